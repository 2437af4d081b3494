import { textDocument } from "#api/http/answer.ts";

type Response = {
  readonly content?: {
    readonly "application/json"?: {
      readonly schema?: {
        readonly properties?: { readonly code?: { readonly enum?: readonly string[] } };
      };
    };
  };
};
type Operation = {
  readonly summary?: string;
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, Response>>;
};

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

type Document = {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths: object;
};

/** `/llms.txt`: the API in one text for language models (llmstxt.org): where its documents are, and every operation by name. */
function llmsText({ info, paths }: Document, baseUrl: string): string {
  const operations = Object.entries(paths as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { summary = "", operationId = "", responses = {} }]) =>
        `- \`${operationId}\`: ${method.toUpperCase()} ${path} — ${summary}${codesOf(responses)}`,
    ),
  );
  return [
    `# ${info.title}`,
    `> ${info.description ?? info.title}`,
    "Answers are JSON: `{ success, data, meta }`, or `{ success, code, message, details }` with one of the operation's codes. Lists go on with `cursor` = `meta.next_cursor`; `fields=a,b` sends only these fields of each row. A key is sent as `X-API-Key`; without one a lower limit applies. Nothing is signed or sent by the API: it returns what a wallet signs and sends.",
    "## Documents",
    `- [OpenAPI](${baseUrl}/v1/openapi.json): every parameter, answer, example and error code`,
    `- [Reference](${baseUrl}/docs): the same to read and to try`,
    `- [Status](${baseUrl}/v1/status): chains, and how far they are indexed`,
    "## Operations",
    operations.join("\n"),
    "",
  ].join("\n\n");
}

/** The codes of an operation's refusals, which answer with a status of their own. */
function codesOf(responses: Readonly<Record<string, Response>>): string {
  const codes = Object.values(responses).flatMap(
    ({ content }) => content?.["application/json"]?.schema?.properties?.code?.enum ?? [],
  );
  return codes.length === 0 ? "" : `. Codes: ${[...new Set(codes)].join(", ")}`;
}

export function llmsDocument(document: Document, baseUrl: string) {
  const type = "text/plain; charset=utf-8";
  return textDocument({ type, text: llmsText(document, baseUrl), cacheControl: "no-cache" });
}
