import { readFileSync } from "node:fs";

/** A request and its answer, as they were sent and received. */
export type Example = {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
};
/** By `method path` of the document. */
export type Examples = Readonly<Record<string, Example>>;

export type ApiName = "v1" | "account";

/** Of both APIs; written by `test/integration/http/generated-clients.test.ts` from a local market. */
export function readExamples(): Readonly<Record<ApiName, Examples>> {
  return JSON.parse(readFileSync(new URL("examples.json", import.meta.url), "utf8"));
}

/** Characters of an answer that is read beside its description; longer ones are read in the reference. */
const maxAnswer = 400;

/** A document for programs: with the examples of requests, and of answers those that are not long. */
export function withoutLongAnswers<Document extends { readonly paths: object }>(
  document: Document,
): Document {
  const copy = structuredClone(document);
  const operations = Object.values(copy.paths).flatMap((methods): Operation[] =>
    Object.values(methods as object),
  );
  const answers = operations.flatMap(({ responses = {} }): Content[] => Object.values(responses));
  for (const { content } of answers) {
    const json = content?.["application/json"] as { example?: unknown } | undefined;
    if (json !== undefined && JSON.stringify(json.example ?? null).length > maxAnswer)
      delete json.example;
  }
  return copy;
}

type Content = { content?: Record<string, object> };
type Operation = {
  parameters?: readonly object[];
  requestBody?: object;
  responses?: object;
};

/** Puts the examples of an API into its document, which it changes and returns. */
export function withExamples<Document extends { readonly paths: object }>(
  document: Document,
  api: ApiName,
): Document {
  const examples = readExamples()[api];
  // Operations without a JSON answer, as those of media, are of the same token or snapshot.
  const { path: token } = examples["get /v1/collections/{collection}/tokens/{tokenId}"] ?? {};
  const { path: snapshot } = examples["get /v1/snapshots/{snapshotId}"] ?? {};
  const path = { ...token, ...snapshot };
  for (const [address, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      const example = examples[`${method} ${address}`];
      addExample(operation, example ?? { path, status: 0, answer: undefined });
    }
  }
  return document;
}

function addExample({ parameters = [], requestBody, responses }: Operation, example: Example) {
  for (const parameter of parameters) {
    const { name, in: place } = parameter as { name?: string; in?: string };
    const given = place === "path" ? example.path : example.query;
    const value = place === "header" ? undefined : given?.[name ?? ""];
    if (value !== undefined) Object.assign(parameter, { example: value });
  }
  if (example.body !== undefined) addToContent(requestBody, example.body);
  const answers = responses as Record<string, object> | undefined;
  addToContent(answers?.[example.status], example.answer);
}

function addToContent(described: Content | undefined, example: unknown): void {
  const json = described?.content?.["application/json"];
  if (json !== undefined) Object.assign(json, { example });
}
