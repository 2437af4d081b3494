import { textDocument } from "../http/answer.ts";
import {
  type ApiDocument,
  type ApiOperation,
  operationsOf,
  type Parameter,
} from "./api-document.ts";

/** What people ask most, and the requests that answer it. */
const questions: readonly (readonly [question: string, address: string])[] = [
  ["Which collection is meant by a name?", "/v1/search?chainId=1&q={text}&limit=5"],
  [
    "What is the floor of a collection, its volume, how many hold it?",
    "/v1/collections/{collection}?chainId=1",
  ],
  [
    "What are its cheapest listings?",
    "/v1/listings?chainId=1&collection={collection}&sort=price_asc&per_page=10&fields=askId,tokenId,price,currency",
  ],
  [
    "The cheapest with a trait?",
    "/v1/listings?chainId=1&collection={collection}&traits[{trait}]={value}&sort=price_asc",
  ],
  [
    "How much would ten of them cost, and what is bid?",
    "/v1/collections/{collection}/depth?chainId=1",
  ],
  [
    "What was it last sold for?",
    "/v1/sales?chainId=1&collection={collection}&per_page=10&fields=tokenId,price,currency,usd,timestamp",
  ],
  [
    "What is a token, whose is it, what is asked and offered?",
    "/v1/collections/{collection}/tokens/{tokenId}?chainId=1",
  ],
  ["What does a wallet have?", "/v1/wallets/{wallet}/tokens?chainId=1"],
  ["What could it sell, and for how much, right now?", "/v1/wallets/{wallet}/offers?chainId=1"],
  ["What happened in a transaction?", "/v1/transactions/{hash}?chainId=1"],
];

/** `/llms.txt`: the API in one text for language models (llmstxt.org): where its documents are, what to ask, and every operation with its parameters. */
function llmsText(document: ApiDocument, baseUrl: string): string {
  const { info } = document;
  return [
    `# ${info.title}`,
    `> ${info.description ?? info.title}`,
    "Answers are JSON: `{ success, data, meta }`, or `{ success, code, message, details }`. Lists go on with `cursor` = `meta.next_cursor`; `fields=a,b` sends only these fields of each row. A key is sent as `X-API-Key`; without one a lower limit applies. Nothing is signed or sent by the API: it returns what a wallet signs and sends.",
    "## Documents",
    `- [OpenAPI](${baseUrl}/v1/openapi.json): every parameter, answer, example and error code`,
    `- [Reference](${baseUrl}/docs): the same to read and to try`,
    `- [Error codes](${baseUrl}/docs/errors): what each means, and what to do`,
    `- [Postman collection](${baseUrl}/postman.json): a request of each operation`,
    `- Tools for agents: MCP over HTTP at ${baseUrl}/mcp`,
    `- [Status](${baseUrl}/v1/status): chains, and how far they are indexed`,
    "## Questions",
    questions.map(([asked, address]) => `- ${asked} \`${baseUrl}${address}\``).join("\n"),
    "## Operations",
    "Parameters of the query; `*`: required.",
    operationsOf(document).map(operationLine).join("\n"),
    "",
  ].join("\n\n");
}

function operationLine(operation: ApiOperation): string {
  const { id, method, path, description = "", parameters = [], requestBody } = operation;
  const query = parameters.filter((one) => one.in === "query").map(markRequired);
  const { properties = {}, required = [] } =
    requestBody?.content?.["application/json"]?.schema ?? {};
  const body = Object.keys(properties).map((name) =>
    markRequired({ name, required: required.includes(name) }),
  );
  return [
    `- \`${id}\`: ${method.toUpperCase()} ${path} — ${description}`,
    ...(query.length > 0 ? [`Query: ${query.join(", ")}.`] : []),
    ...(body.length > 0 ? [`Body: ${body.join(", ")}.`] : []),
  ].join(" ");
}

const markRequired = ({ name, required = false }: Pick<Parameter, "name" | "required">): string =>
  required ? `${name}*` : name;

export function llmsDocument(document: ApiDocument, baseUrl: string) {
  const type = "text/plain; charset=utf-8";
  return textDocument({ type, text: llmsText(document, baseUrl), cacheControl: "no-cache" });
}
