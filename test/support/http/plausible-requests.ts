import fc from "fast-check";
import { fittingOf, type Schema } from "./drawn-values.ts";
import type { OperationRequests } from "./operation-requests.ts";

export type Parameter = { readonly in: string; readonly name: string; readonly schema?: Schema };

export type DrawnRequest = {
  readonly method: "get" | "post";
  readonly path: string;
  /** Undefined: no body is sent. */
  readonly body: string | undefined;
};

export const encode = (value: unknown) =>
  encodeURIComponent(
    String(typeof value === "object" ? JSON.stringify(value) : value).replaceAll(
      /[\ud800-\udfff]/g,
      "?",
    ),
  );

/** What is known of the data behind an API. */
export type Known = {
  /** By the name of a parameter: values that lead to rows. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Requests that succeed. */
  readonly requests: OperationRequests;
};

type Target = {
  readonly method: "get" | "post";
  readonly path: string;
  readonly parameters?: readonly Parameter[];
};

/** A request that succeeds, with other known or fitting values in some of its places. */
export function plausibleRequest(
  { method, path, parameters = [] }: Target,
  { values, requests }: Known,
): fc.Arbitrary<DrawnRequest> {
  const request = requests[`${method} ${path}`] ?? {};
  const parts = parameters
    .filter((one) => one.in === "path" || one.in === "query")
    .map((parameter) => {
      const { name } = parameter;
      const given: Readonly<Record<string, unknown>> | undefined =
        parameter.in === "path" ? request.path : request.query;
      const value = plausibleValue(parameter, given?.[name], values[name] ?? []);
      return value.map((drawn) => ({ ...parameter, value: drawn }));
    });
  return fc.tuple(fc.tuple(...parts), bodyLike(request.body)).map(([drawn, body]) => {
    const query = drawn.filter((one) => one.in === "query").flatMap(queryParts);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encode(drawn.find((one) => one.in === "path" && one.name === name)?.value ?? "x"),
    );
    return {
      method,
      path: [filled, query.join("&")].filter((part) => part !== "").join("?"),
      body,
    };
  });
}

/** Mostly the usual value, which may be none. Any text is not plausible where only known words lead to rows. */
function plausibleValue({ schema = {} }: Parameter, usual: unknown, known: readonly string[]) {
  const usually = { weight: 8, arbitrary: fc.constant(usual) };
  if (known.length > 0)
    return fc.oneof(usually, { weight: 2, arbitrary: fc.constantFrom<unknown>(...known) });
  return isChoice(schema)
    ? fc.oneof(usually, { weight: 1, arbitrary: fittingOf(schema) })
    : usually.arbitrary;
}

const isChoice = ({ enum: choices, type, items }: Schema): boolean =>
  choices !== undefined ||
  (type === "array" && items !== undefined && isChoice(items)) ||
  ["integer", "number", "boolean"].includes(String(type));

/** The usual body, sometimes without one of its fields. */
function bodyLike(body: Readonly<Record<string, unknown>> | undefined) {
  if (body === undefined) return fc.constant(undefined);
  const without = fc
    .constantFrom(...Object.keys(body))
    .map((left) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== left)));
  return fc
    .oneof({ weight: 8, arbitrary: fc.constant(body) }, { weight: 1, arbitrary: without })
    .map((sent) => JSON.stringify(sent));
}

function queryParts({ name, value }: { name: string; value: unknown }): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return [`${name}=${value.map(encode).join()}`];
  if (typeof value !== "object" || value === null) return [`${name}=${encode(value)}`];
  return Object.entries(value).map(([key, one]) => `${name}[${encode(key)}]=${encode(one)}`);
}
