import fc from "fast-check";
import { drawnFrom, hostileText, type Schema } from "./drawn-values.ts";
import {
  type DrawnRequest,
  encode,
  type Known,
  type Parameter,
  plausibleRequest,
} from "./plausible-requests.ts";

type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
};
export type RequestDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** An array's values have commas between them. */
const written = (value: unknown) =>
  Array.isArray(value) ? value.map(encode).join(",") : encode(value);

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const fields = parameters
    .filter((one) => one.in === "query")
    .map(({ name, schema = {} }) =>
      fc.option(
        schema.type === "object"
          ? fc
              .tuple(hostileText, drawnFrom({ type: "string" }))
              .map(([key, text]) => `${name}[${encode(key)}]=${encode(text)}`)
          : drawnFrom(schema).map((value) => `${name}=${written(value)}`),
        { nil: "", freq: 1 },
      ),
    );
  return fc
    .tuple(
      fc.tuple(...fields),
      fc.option(
        hostileText.map((text) => `${encode(text)}=1`),
        { nil: "", freq: 10 },
      ),
    )
    .map(([own, other]) => [...own, other].filter((part) => part !== "").join("&"));
}

/** The body as JSON, or broken, deep, or large. */
function bodyOf(requestBody: unknown): fc.Arbitrary<string | undefined> {
  const { content } = (requestBody ?? {}) as { content?: Record<string, { schema?: Schema }> };
  const schema = content?.["application/json"]?.schema;
  if (schema === undefined) return fc.constantFrom(undefined, "", "{}", "x");
  const json = drawnFrom(schema).map((value) => JSON.stringify(value) ?? "");
  const cut = fc.tuple(json, fc.nat(200)).map(([text, end]) => text.slice(0, end));
  const deep = fc.constantFrom("[", '{"a":').map((open) => open.repeat(9_000));
  const inside = json.map((text) =>
    text.replace(/"0x[^"]*"|:\d+/, `${"[".repeat(9_000)}${"]".repeat(9_000)}`),
  );
  const large = fc.constantFrom(
    `{"chainId":1,"listings":[${"{},".repeat(60_000)}{}]}`,
    `"${"x".repeat(700_000)}"`,
  );
  return fc.oneof(
    { weight: 60, arbitrary: json },
    { weight: 6, arbitrary: cut },
    { weight: 2, arbitrary: fc.oneof(deep, inside) },
    { weight: 1, arbitrary: large },
    { weight: 1, arbitrary: hostileText },
  );
}

/**
 * Requests of every operation of a document: three of four succeed or nearly do, made of what is known, the others are
 * at bounds, broken, hostile, deep and large.
 */
export function drawRequests(document: RequestDocument, known: Known): fc.Arbitrary<DrawnRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    (["get", "post"] as const).flatMap((method) => {
      const operation = methods[method];
      if (operation === undefined) return [];
      const plausible = plausibleRequest({ method, path, ...operation }, known);
      return [
        { weight: 1, arbitrary: requestOf(method, path, operation, known.values) },
        { weight: 3, arbitrary: plausible },
      ];
    }),
  );
  return fc.oneof(...operations);
}

function requestOf(
  method: "get" | "post",
  path: string,
  { parameters = [], requestBody }: Operation,
  known: Known["values"],
): fc.Arbitrary<DrawnRequest> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const parts = fc.tuple(
    ...names.map((name) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom("x", ...(known[name] ?? [])) },
        { weight: 1, arbitrary: hostileText },
      ),
    ),
  );
  const body = method === "get" ? fc.constant(undefined) : bodyOf(requestBody);
  return fc.tuple(parts, queryOf(parameters), body).map(([values, query, sent]) => {
    let next = 0;
    const filled = path.replaceAll(/\{\w+\}/g, () =>
      (encode(values[next++]) || "x").replaceAll(".", "%2E"),
    );
    return { method, path: query === "" ? filled : `${filled}?${query}`, body: sent };
  });
}
