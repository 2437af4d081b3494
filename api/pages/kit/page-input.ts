import { timingSafeEqual } from "node:crypto";
import express, { type Request, type RequestHandler } from "express";

/** What a page sees of a request: texts. Each is "" where it is missing or not a single text. */
export type PageInput = {
  /** Path without the query. */
  readonly path: string;
  /** A parameter of the path. */
  readonly key: (name: string) => string;
  /** A query parameter. */
  readonly parameter: (name: string) => string;
  /** Query parameters `name[key]=value`; a key that comes again is there again. */
  readonly entries: (name: string) => readonly (readonly [key: string, value: string])[];
  /** A field of the form. */
  readonly field: (name: string) => string;
  /** All fields of the form that are single texts. */
  readonly fields: ReadonlyMap<string, string>;
};

export function pageInputOf({ path, params, query, body }: Request): PageInput {
  const fields = new Map(
    Object.entries(body ?? {}).filter((one): one is [string, string] => typeof one[1] === "string"),
  );
  return {
    path,
    key: (name) => textOf(params, name),
    parameter: (name) => textOf(query, name),
    entries(name) {
      const value = query[name];
      if (typeof value !== "object" || value === null) return [];
      return Object.entries(value).flatMap(([key, one]) =>
        (Array.isArray(one) ? one : [one]).map((text) => [key, plainValue(text)] as const),
      );
    },
    field: (name) => fields.get(name) ?? "",
    fields,
  };
}

function textOf(values: object, name: string): string {
  return plainValue(Object.hasOwn(values, name) ? Reflect.get(values, name) : undefined);
}

const plainValue = (value: unknown): string => (typeof value === "string" ? value : "");

const readForm = express.urlencoded({ extended: false, limit: 16_384, parameterLimit: 50 });

/** Reads a form of one of our own pages; any other is refused before its body is read. `baseUrl` as below. */
export function readOwnForm(baseUrl: string | null, refuse: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const answer = hasOwnOrigin(request, baseUrl) ? readForm : refuse;
    answer(request, response, next);
  };
}

/**
 * Whether a form was sent from one of our own pages, by `Sec-Fetch-Site` and `Origin`. A client that sends no origin
 * is refused. Proxies may change the host, so the configured one is accepted as well. Null where none is configured:
 * only the host tells, since a proxy may end TLS.
 */
function hasOwnOrigin(request: Request, baseUrl: string | null): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const origin = request.get("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  const ours = new URL(baseUrl ?? `${from.protocol}//${request.get("host") ?? ""}`);
  const isOurHost = from.host === ours.host || from.host === request.get("host");
  return isOurHost && from.protocol === ours.protocol;
}

/** Compares a token of a form with the expected one, in the same time wherever they differ. */
export function isSameToken(token: string, expected: string): boolean {
  const [one, other] = [Buffer.from(token), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
