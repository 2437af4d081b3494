import { z } from "zod";
import {
  isRejection,
  type Rejection,
  type RejectionDetail,
} from "../../../projections/domain/rejection.ts";

/** The status of a refusal, alone or with how the caller may go on, which is then told beside the code. */
export type Refusal = number | { readonly status: number; readonly retry: string };

/** Codes an endpoint refuses with, and the status each answers. The only home of both. */
export type Refusals = Readonly<Record<string, Refusal>>;

/** What a handler answers: the payload, and `meta` beside it for lists. */
export type Answer<Data = unknown, Meta = unknown> = {
  readonly data: Data;
  readonly meta?: Meta;
  /** How long this answer may be kept, where that differs from what its route says. */
  readonly maxAgeSeconds?: number;
  /** Of a route that is kept: whether this answer may change by itself, so that it is not. */
  readonly isPassing?: boolean;
  /** One of the route's `successes`; needed where there are several. */
  readonly status?: SuccessStatus;
  /** Of routes that do many things at once: how that went, in words. */
  readonly batch?: { readonly message: string; readonly isDone: boolean };
};

/** What a handler refuses with, and after how many seconds the caller may try again. */
export type Refused<Code extends string = string> = Rejection<Code> & {
  readonly retryAfterSeconds?: number;
};

type SuccessStatus = 200 | 201;

/** Statuses of a route's successes, and what each says. */
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
  /** As in OpenAPI: `{name}` marks a parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Schema of `data` in the success envelope. */
  readonly data: Data;
  readonly meta?: Meta;
  readonly refuses: Refuses;
  /** Only 200 without it. */
  readonly successes?: Successes;
  /** Whether it does many things at once: its envelope tells how that went. */
  readonly isBatch?: boolean;
  /** How long a success may be kept; without it every use is revalidated. */
  readonly maxAgeSeconds?: number;
  /**
   * Whether an answer stands until the log, a projection or the second of the clock changes, whoever asks: then it is
   * kept until it does. Whatever else it depends on would be told too late.
   */
  readonly isKept?: boolean;
  /** Whether it is for callers who have no credentials yet. */
  readonly isOpen?: boolean;
  /** Largest JSON body; 16 kB without it. */
  readonly maxBodyBytes?: number;
};

export function successesOf({ successes }: { successes?: Successes }): Successes {
  return successes ?? { 200: "Success" };
}

export type Input<Params = unknown, Query = unknown, Body = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Whom the request is counted for, by network address. */
  readonly address: string;
};

/** One row of the table from which validation, mounting and OpenAPI come. */
export type Route<Context> = Shape & {
  readonly answer: (raw: Input, context: Context) => Promise<Answer | Refused>;
};

/**
 * Makes routes of one context. `guard` sees every parsed input before the handler.
 * A handler can only refuse with codes that its route declares: anything else does not compile.
 */
export function routeFor<Context>(
  guard: (input: Input, context: Context) => Rejection | undefined,
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
  ): Route<Context> => {
    const parse = inputParser(shape);
    const answer = async (raw: Input, context: Context): Promise<Answer | Refused> => {
      const input = parse(raw);
      if (isRejection(input)) return input;
      const refused = guard(input, context);
      if (refused !== undefined) return refused;
      return handle(input as Input<Parsed<Params>, Parsed<Query>, Parsed<Body>>, context);
    };
    return { ...shape, answer };
  };
}

const nothing = z
  .unknown()
  .optional()
  .transform(() => undefined);

function inputParser(shape: Shape): (raw: Input) => Input | Rejection {
  const reads = shape.method === "get" && !("bad_structure" in shape.refuses);
  const invalid = reads ? "invalid_parameters" : "bad_structure";
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
    return { ...parsed.data, address: raw.address };
  };
}

/** A schema names another code for its failure through `params.rejects` of a custom issue. */
function refusalOf(error: z.ZodError, invalid: string): Rejection {
  const details = error.issues.map(detailOf);
  const named = error.issues.find((issue) => issue.code === "custom" && issue.params?.rejects);
  const code = named?.code === "custom" ? String(named.params?.rejects) : invalid;
  const [first] = named === undefined ? details : [detailOf(named)];
  return { rejected: code, message: `${first?.field}: ${first?.message}`, details };
}

function detailOf(issue: z.core.$ZodIssue): RejectionDetail {
  const [part, ...path] = issue.path.map(String);
  const field = path.length > 0 ? path.join(".") : (part ?? "");
  const expected = "expected" in issue ? { expected: String(issue.expected) } : {};
  return { field, ...expected, message: issue.message };
}
