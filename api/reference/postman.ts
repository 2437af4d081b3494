import {
  type ApiDocument,
  type ApiOperation,
  operationsOf,
  type Parameter,
} from "./api-document.ts";

type Field = { readonly key: string; readonly value: string; readonly disabled?: true };

/**
 * A Postman collection (v2.1) of the API: a folder for each tag, and each request with the parameters and body of its example,
 * so that it runs as imported. Variables: `baseUrl`, and `apiKey`, which may be empty.
 */
export function postmanCollection(document: ApiDocument, baseUrl: string): object {
  const operations = operationsOf(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return {
    info: {
      name: document.info.title,
      description: document.info.description,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: [
      { key: "baseUrl", value: baseUrl },
      { key: "apiKey", value: "" },
    ],
    item: tags.map((name) => ({
      name,
      item: operations.filter(({ tag }) => tag === name).map(requestItem),
    })),
  };
}

function requestItem({ method, path, summary, description, parameters, ...rest }: ApiOperation) {
  const all = parameters ?? [];
  const body = rest.requestBody?.content?.["application/json"]?.example;
  const segments = path.slice(1).replaceAll(/\{(\w+)\}/g, ":$1");
  const query = all.filter((one) => one.in === "query").flatMap(queryFields);
  const variable = all
    .filter((one) => one.in === "path")
    .map(({ name, example }) => ({ key: name, value: String(example ?? "") }));
  return {
    name: summary ?? rest.id,
    request: {
      method: method.toUpperCase(),
      description,
      header: [
        { key: "X-API-Key", value: "{{apiKey}}" },
        ...(body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
      ],
      url: {
        raw: `{{baseUrl}}/${segments}`,
        host: ["{{baseUrl}}"],
        path: segments.split("/"),
        query,
        variable,
      },
      ...(body !== undefined && { body: { mode: "raw", raw: JSON.stringify(body, null, 2) } }),
    },
  };
}

/** Without an example a parameter is there and not sent. */
function queryFields({ name, example }: Parameter): Field[] {
  if (example === undefined) return [{ key: name, value: "", disabled: true }];
  if (typeof example !== "object" || example === null)
    return [{ key: name, value: String(example) }];
  return Object.entries(example).map(([key, value]) => ({
    key: `${name}[${key}]`,
    value: String(value),
  }));
}
