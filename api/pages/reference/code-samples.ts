import type { ApiOperation, Parameter } from "../../reference/api-document.ts";

/** A request of a document's example, against one address. */
export type ExampleCall = {
  readonly method: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly body: unknown;
  /** Of the header that the endpoint cannot do without; null: it answers everybody. */
  readonly credential: Credential | null;
};

type Credential = { readonly header: string; readonly value: string };

/** The example of an operation as a call; `parameters` are resolved. */
export function exampleCall(
  operation: Pick<ApiOperation, "method" | "path" | "requestBody">,
  parameters: readonly Parameter[],
  { baseUrl, credential }: { readonly baseUrl: string; readonly credential: Credential | null },
): ExampleCall {
  const { method, path, requestBody } = operation;
  const given = parameters.filter(
    ({ example, in: place }) => example !== undefined && place !== "header",
  );
  const url = givenUrl(baseUrl + path, given);
  const values = Object.fromEntries(given.map(({ name, example }) => [name, example]));
  const body = requestBody?.content?.["application/json"]?.example;
  return { method: method.toUpperCase(), path, parameters: values, url, body, credential };
}

function givenUrl(template: string, given: readonly Parameter[]): string {
  const ofPath = new Map(
    given.filter((one) => one.in === "path").map((one) => [one.name, one.example]),
  );
  const path = template.replaceAll(/\{(\w+)\}/g, (whole, name) =>
    ofPath.has(name) ? encodeURIComponent(String(ofPath.get(name))) : whole,
  );
  const query = new URLSearchParams(
    given
      .filter((one) => one.in === "query")
      .flatMap(({ name, example }) => written(name, example)),
  ).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** `name[key]=value` of an object, values of a list with commas. */
function written(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return [[name, value.join(",")]];
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)]);
  return [[name, String(value)]];
}

/** A value within a line of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** As one command for a shell. */
export function curlSample({ method, url, body, credential }: ExampleCall): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    ...(credential === null ? [] : [`-H ${quoted(`${credential.header}: ${credential.value}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return lines.join(" \\\n  ");
}

/** With the client of this project, whose parameters of path, query and body are one object. */
export function clientSample(call: ExampleCall, baseUrl: string): string {
  const { method, path, parameters, body, credential } = call;
  const { chainId, ...others } = { ...parameters, ...(isRecord(body) ? body : {}) };
  const options = [
    `url: ${JSON.stringify(baseUrl)}`,
    ...(chainId === undefined ? [] : [`chainId: ${JSON.stringify(chainId)}`]),
    ...(credential === null ? [] : [`key: ${JSON.stringify(credential.value)}`]),
  ];
  const named = Object.keys(others).length === 0 ? "" : `, ${JSON.stringify(others, null, 2)}`;
  return [
    `import { market } from "order-book";`,
    "",
    `const api = market({ ${options.join(", ")} });`,
    `const { data } = await api.${method.toLowerCase()}(${JSON.stringify(path)}${named});`,
    "console.log(data);",
  ].join("\n");
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** With what Python brings itself. */
export function pythonSample({ method, url, body, credential }: ExampleCall): string {
  const headers = {
    ...(credential !== null && { [credential.header]: credential.value }),
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
  const request = [
    JSON.stringify(url),
    ...(method === "GET" ? [] : [`method=${JSON.stringify(method)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers=${JSON.stringify(headers)}`]),
    ...(body === undefined ? [] : ["data=json.dumps(body).encode()"]),
  ];
  return [
    "import json",
    "from urllib.request import Request, urlopen",
    "",
    ...(body === undefined ? [] : [`body = ${pythonLiteral(body)}`]),
    `request = Request(${request.join(", ")})`,
    "with urlopen(request) as answer:",
    '    print(json.load(answer)["data"])',
  ].join("\n");
}

/** JSON as Python writes it. */
function pythonLiteral(value: unknown): string {
  const text = JSON.stringify(value, null, 4);
  // Strings stay as they are: both languages write them alike.
  return text.replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => constants[token] ?? token,
  );
}

const constants: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
