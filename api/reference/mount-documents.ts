import type { Express } from "express";
import { jsonDocument, sendFixed } from "../http/answer.ts";
import { servePath } from "../http/mount.ts";
import { refuseUnknownParameters } from "../http/query.ts";
import type { ApiDocument } from "./api-document.ts";
import { withoutLongAnswers } from "./examples.ts";
import { llmsDocument } from "./llms.ts";
import { postmanCollection } from "./postman.ts";

/** The API's documents for programs: OpenAPI, a text for language models, and a Postman collection. */
export function mountDocuments(
  app: Express,
  document: ApiDocument,
  { baseUrl, parameters }: { readonly baseUrl: string; readonly parameters: readonly string[] },
): void {
  const openApi = sendFixed(jsonDocument(withoutLongAnswers(document), {}));
  servePath(app, "/v1/openapi.json", { get: [refuseUnknownParameters(parameters), openApi] });
  servePath(app, "/llms.txt", { get: [sendFixed(llmsDocument(document, baseUrl))] });
  const postman = sendFixed(jsonDocument(postmanCollection(document, baseUrl), {}));
  servePath(app, "/postman.json", { get: [postman] });
}
