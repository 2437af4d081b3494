import { textDocument } from "../http/answer.ts";
import { type ApiDocument, type ApiOperation, codesOf, operationsOf } from "./api-document.ts";

/** `/llms.txt`: the API in one text for language models (llmstxt.org): where its documents are, and every operation by name. */
function llmsText(document: ApiDocument, baseUrl: string): string {
  const { info } = document;
  return [
    `# ${info.title}`,
    `> ${info.description ?? info.title}`,
    "Answers are JSON: `{ success, data, meta }`, or `{ success, code, message, details }` with one of the operation's codes. Lists go on with `cursor` = `meta.next_cursor`; `fields=a,b` sends only these fields of each row. A key is sent as `X-API-Key`; without one a lower limit applies. Nothing is signed or sent by the API: it returns what a wallet signs and sends.",
    "## Documents",
    `- [OpenAPI](${baseUrl}/v1/openapi.json): every parameter, answer, example and error code`,
    `- [Reference](${baseUrl}/docs): the same to read and to try`,
    `- Tools for agents: MCP over HTTP at ${baseUrl}/mcp`,
    `- [Status](${baseUrl}/v1/status): chains, and how far they are indexed`,
    "## Operations",
    operationsOf(document).map(operationLine).join("\n"),
    "",
  ].join("\n\n");
}

function operationLine({ id, method, path, summary = "", responses = {} }: ApiOperation): string {
  const codes = new Set(Object.values(responses).flatMap((one) => codesOf(one)));
  const refusals = codes.size === 0 ? "" : `. Codes: ${[...codes].join(", ")}`;
  return `- \`${id}\`: ${method.toUpperCase()} ${path} — ${summary}${refusals}`;
}

export function llmsDocument(document: ApiDocument, baseUrl: string) {
  const type = "text/plain; charset=utf-8";
  return textDocument({ type, text: llmsText(document, baseUrl), cacheControl: "no-cache" });
}
