import { z } from "zod";
import {
  isRejection,
  type Rejection,
  type RejectionDetail,
} from "#projections/domain/rejection.ts";
import type { Media } from "./answer.ts";
import type { BodyLimits } from "./body.ts";
import type { LoadClass } from "./concurrency.ts";
import type { Scope, UsedKey } from "./limit.ts";

/** The HTTP status of a rejection code, optionally with `retry`: what the caller can do, sent beside the code. */
export type Refusal = number | { readonly status: number; readonly retry: string };

/** The rejection codes of an endpoint and their HTTP statuses. The only place that states them. */
export type Refusals = Readonly<Record<string, Refusal>>;

/** Files that rows may be sent as. */
export const fileTypes = {
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
} as const;

/** What a handler returns: the payload, and `meta` for lists. */
export type Answer<Data = unknown, Meta = unknown> = {
  readonly data: Data;
  readonly meta?: Meta;
  /** Of routes with `mediaTypes`, or `hasFiles`: what is sent. */
  readonly media?: Media;
  /** `max-age` of this response, when it differs from the route's. */
  readonly maxAgeSeconds?: number;
  /** On a cacheable route: this response may change without a new fact and is not cached. */
  readonly isVolatile?: boolean;
  /** One of the route's `successes`; required when there are several. */
  readonly status?: SuccessStatus;
  /** Of batch routes: a summary in words, and whether at least one item succeeded. */
  readonly batch?: { readonly message: string; readonly isDone: boolean };
};

/** A rejection, with the seconds after which the caller may retry. */
export type Refused<Code extends string = string> = Rejection<Code> & {
  readonly retryAfterSeconds?: number;
};

type SuccessStatus = 200 | 201 | 202;

/** The success statuses of a route and their descriptions. */
export type Successes = Readonly<Partial<Record<SuccessStatus, string>>>;

type Fields = z.ZodObject | undefined;
type Schema = z.ZodType | undefined;
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

type Shape<
  Params extends Fields = Fields,
  Query extends Fields = Fields,
  Body extends Schema = Schema,
  Data extends z.ZodType = z.ZodType,
  Meta extends Schema = Schema,
  Refuses extends Refusals = Refusals,
> = {
  readonly method: "get" | "post";
  /** OpenAPI syntax: `{name}` is a parameter. */
  readonly path: string;
  /**
   * What callers call the operation, in generated clients too: a verb (`list` for many, `get` for one) and a noun.
   * Never changed once released.
   */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Schema of `data` in the success envelope. */
  readonly data: Data;
  readonly meta?: Meta;
  /** Media types of a success that is no JSON envelope; limited apart from other requests. */
  readonly mediaTypes?: readonly string[];
  /** A success may also be its rows as a file of one of `fileTypes`. */
  readonly hasFiles?: boolean;
  readonly refuses: Refuses;
  /** Default: 200 only. */
  readonly successes?: Successes;
  /** Handles several items per request; its envelope has a summary. */
  readonly isBatch?: boolean;
  /** `Cache-Control: max-age` of a success; without it `no-cache`. */
  readonly maxAgeSeconds?: number;
  /**
   * The response depends only on the log, the projections and the clock's whole seconds, not on the caller, so it may
   * be served from the response cache.
   */
  readonly isCacheable?: boolean;
  /**
   * What it reads: one snapshot of the projections (default of GET), the primary database, for who writes or asks others
   * meanwhile (default of POST), or nothing of the projections, so that its answer has no position.
   */
  readonly reads?: "snapshot" | "primary" | "nothing";
  /**
   * Parameters of its query whose values do not decide which index is the best: with these alone its statements are
   * planned once, for any values. Planning is half of PostgreSQL's work for a list. Requests with others, and routes
   * without this, leave it to PostgreSQL.
   */
  readonly plansOnceWith?: readonly string[];
  /** The answer is about the request's key: nobody may keep it. */
  readonly isPrivate?: boolean;
  /** A success may also be a stream of server-sent events. */
  readonly streams?: boolean;
  /** Needs no credentials. */
  readonly isOpen?: boolean;
  readonly bodyLimits?: BodyLimits;
  /** What it is shed with under load; default `data`. */
  readonly loadClass?: LoadClass;
  /** The scope that a key needs; default: `read` for GET, `orders` for POST. Null: none. */
  readonly scope?: Scope | null;
};

/** The code of input that does not fit the schema: each endpoint has one, which the documents name. */
export function invalidCode({ method, refuses }: Pick<Shape, "method" | "refuses">): string {
  if (method === "post") return "bad_request" in refuses ? "bad_request" : "bad_structure";
  return "bad_structure" in refuses ? "bad_structure" : "invalid_parameters";
}

/** The scope that a key needs. */
export function scopeOf({ method, scope }: Pick<Shape, "method" | "scope">): Scope | null {
  if (scope !== undefined) return scope;
  return method === "get" ? "read" : "orders";
}

export function readsOf({ method, reads }: Pick<Shape, "method" | "reads">) {
  return reads ?? (method === "get" ? "snapshot" : "primary");
}

/** Whether the statements of a request to a route are planned once, by its query. */
export function planningOf({ query, plansOnceWith }: Pick<Shape, "query" | "plansOnceWith">) {
  if (plansOnceWith === undefined) return () => false;
  const others = Object.keys(query?.shape ?? {}).filter((name) => !plansOnceWith.includes(name));
  return (asked: unknown) => others.every((name) => !Object.hasOwn(Object(asked), name));
}

export function successesOf({ successes }: { successes?: Successes }): Successes {
  return successes ?? { 200: "OK" };
}

export type Input<Params = unknown, Query = unknown, Body = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The caller's network address, as used for rate limits. */
  readonly address: string;
  /** The key of the request; null: none. */
  readonly key: UsedKey | null;
};

/** What is left to do once a request is valid. */
type Handling<Context> = (context: Context) => Promise<Answer | Refused>;

/** One endpoint: validation, mounting and OpenAPI are derived from it. */
export type Route<Context> = Shape & {
  readonly answer: (raw: Input, context: Context) => Promise<Answer | Refused>;
  /** The first half of `answer`: it reads nothing, so what is invalid is refused before it costs a read. */
  readonly validate: (raw: Input, context: Context) => Handling<Context> | Rejection;
  /** Asks others than the database for what the handler then finds kept, as a snapshot holds a connection. */
  readonly prepare?: (query: unknown, context: Context) => Promise<void>;
};

/** A route with the type of its answers, for callers in this process. */
export type TypedRoute<Context, Data, Meta> = Omit<Route<Context>, "answer"> & {
  readonly answer: (raw: Input, context: Context) => Promise<Answer<Data, Meta> | Refused>;
};

/**
 * Creates the `route` function of one API. `guard` checks every parsed input before the handler runs, `guardRaw` the
 * input as it came.
 * A handler can only reject with codes that its route declares; anything else does not compile.
 */
export function routeFor<Context>(
  guard: (input: Input, context: Context, raw: Input) => Rejection | undefined,
  guardRaw: (raw: Input) => Rejection | undefined = () => undefined,
) {
  return <
    Data extends z.ZodType,
    const Refuses extends Refusals,
    Params extends Fields = undefined,
    Query extends Fields = undefined,
    Body extends Schema = undefined,
    Meta extends Schema = undefined,
  >(
    shape: Shape<Params, Query, Body, Data, Meta, Refuses>,
    handle: (
      input: Input<Parsed<Params>, Parsed<Query>, Parsed<Body>>,
      context: Context,
    ) => Promise<Answer<z.output<Data>, Parsed<Meta>> | Refused<keyof Refuses & string>>,
  ): TypedRoute<Context, z.output<Data>, Parsed<Meta>> => {
    const parse = inputParser(shape);
    const validate = (raw: Input, context: Context) => {
      const input = guardRaw(raw) ?? parse(raw);
      if (isRejection(input)) return input;
      const refused = guard(input, context, raw);
      if (refused !== undefined) return refused;
      return (given: Context) =>
        handle(input as Input<Parsed<Params>, Parsed<Query>, Parsed<Body>>, given);
    };
    const answer = async (raw: Input, context: Context) => {
      const handling = validate(raw, context);
      return isRejection(handling) ? handling : handling(context);
    };
    return { ...shape, answer, validate };
  };
}

const nothing = z
  .unknown()
  .optional()
  .transform(() => undefined);

function inputParser(shape: Shape): (raw: Input) => Input | Rejection {
  const invalid = invalidCode(shape);
  const takesInput =
    shape.params !== undefined || shape.query !== undefined || shape.body !== undefined;
  if (takesInput && !(invalid in shape.refuses)) {
    throw new Error(`${shape.method} ${shape.path} takes input and does not declare ${invalid}`);
  }
  const schema = z.object({
    params: shape.params ?? nothing,
    query: shape.query ?? nothing,
    body: shape.body ?? nothing,
  });
  return (raw) => {
    const parsed = schema.safeParse(raw);
    if (!parsed.success) return refusalOf(parsed.error, invalid);
    return { ...parsed.data, address: raw.address, key: raw.key };
  };
}

/** A schema chooses its own rejection code with `params.rejects` of a custom issue. */
function refusalOf(error: z.ZodError, invalid: string): Rejection {
  const details = error.issues.slice(0, maxDetails).flatMap(detailsOf).slice(0, maxDetails);
  const named = error.issues.find((issue) => issue.code === "custom" && issue.params?.rejects);
  const code = named?.code === "custom" ? String(named.params?.rejects) : invalid;
  const [first] = named === undefined ? details : detailsOf(named);
  return { rejected: code, message: `${first?.field}: ${first?.message}`, details };
}

const maxDetails = 20;

function detailsOf(issue: z.core.$ZodIssue): RejectionDetail[] {
  const [part, ...path] = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxDetails).map((key) => ({
      field: [...path, key.slice(0, 100)].join("."),
      message: "is not a field of this request",
    }));
  }
  const field = path.length > 0 ? path.join(".") : (part ?? "");
  const expected = "expected" in issue ? { expected: String(issue.expected) } : {};
  return [{ field, ...expected, message: issue.message }];
}
