import type { Answer, TypedRoute } from "#api/http/route.ts";
import type { Context } from "#api/v1/context.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { Html } from "./html.ts";
import type { PageInput } from "./page-input.ts";
import type { Card, Preview } from "./preview.ts";

/** Query parameters of the pages, of which each has its own. */
export type PageParameter =
  | "at"
  | "block"
  | "currency"
  | "cursor"
  | "days"
  | "exclude_wash"
  | "listed"
  | "marketplace"
  | "max_price"
  | "min_price"
  | "period"
  | "q"
  | "sort"
  | "traits"
  | "type"
  | "view";

/** A request for a page. */
export type Visit = Pick<PageInput, "path" | "key"> & {
  readonly chainId: ChainId;
  /** The chains served, for the switch between them. */
  readonly chains: readonly ChainId[];
  /** Those that a list of chains shows: all, or that of the page. */
  readonly listed: readonly ChainId[];
  /** Of the parameters that the page says it has. */
  readonly parameter: (name: PageParameter) => string;
  readonly entries: (name: PageParameter) => ReturnType<PageInput["entries"]>;
  readonly read: Read;
  /** The time at which everything on the page is shown. */
  readonly now: Date;
};

/** What the events of a page are about, and where they are shown. */
export type LiveFilter = {
  readonly collection?: string;
  /** Picked by the page itself. */
  readonly contracts?: readonly string[];
  readonly token?: string;
  readonly wallet?: string;
  readonly type?: string;
};

/** What a page shows below the header. */
export type PageContent = {
  readonly title: string;
  /** For search engines and previews; by default that of the whole site. */
  readonly description?: string | null;
  readonly body: Html;
  readonly status?: number;
  /** Events that change the page while it is open. */
  readonly live?: LiveFilter;
  /** By default the page's address is its path. */
  readonly preview?: Preview;
  /** Not for search engines. */
  readonly isUnlisted?: boolean;
  /** Path of the page that is meant, which the visitor is sent to. */
  readonly leadsTo?: string | undefined;
  /** Text of the search box. */
  readonly search?: string;
};

export type PageHandler = (visit: Visit) => Promise<PageContent>;

/** What a page says for its card, by the same reads. */
export type CardOf = (visit: Pick<Visit, "chainId" | "key" | "read">) => Promise<Card>;

/** `{ name: { key: values } }` is `name[key]=value` of each. */
type Query = Readonly<
  Record<string, string | Readonly<Record<string, readonly string[]>> | undefined>
>;

type Call = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
};

/** Answers a request to an endpoint in this process; throws `Refused` where the endpoint refuses it. */
type Read = <Data, Meta>(
  route: TypedRoute<Context, Data, Meta>,
  call: Call,
) => Promise<Answer<Data, Meta>>;

/** A read that was refused. The page that asked for it cannot be shown, so that its handler ends here. */
export class RefusedRead extends Error {
  readonly rejection: Rejection;
  /** HTTP status of the endpoint. */
  readonly status: number;

  constructor(rejection: Rejection, status: number) {
    super(rejection.message);
    this.rejection = rejection;
    this.status = status;
  }
}

export type Reader = {
  readonly read: Read;
  /** Paths of the requests that gave the page's figures, in the order of the reads. */
  readonly requests: () => readonly string[];
  /** Whether an answer may change without a new fact. */
  readonly isVolatile: () => boolean;
};

/** What one page reads: the answers of endpoints, so that a figure on a page is the endpoint's. */
export function openReader(context: Context): Reader {
  const requests: string[] = [];
  let isVolatile = false;
  return {
    async read(route, { params = {}, query = {} }) {
      requests.push(addressOf(route.path, params, query));
      const given = Object.fromEntries(
        Object.entries(query).filter(([, value]) => value !== undefined),
      );
      const answer = await route.answer(
        { params, query: given, body: undefined, address: "", key: null },
        context,
      );
      if (isRejection(answer))
        throw new RefusedRead(answer, statusOf(route.refuses[answer.rejected]));
      if (answer.isVolatile === true || route.isCacheable !== true) isVolatile = true;
      return answer;
    },
    requests: () => requests,
    isVolatile: () => isVolatile,
  };
}

function statusOf(refusal: number | { readonly status: number } | undefined): number {
  if (refusal === undefined) return 422;
  return typeof refusal === "number" ? refusal : refusal.status;
}

function addressOf(path: string, params: Readonly<Record<string, string>>, query: Query): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(Object.entries(query).flatMap(pairsOf));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function pairsOf([name, value]: [string, Query[string]]): [string, string][] {
  if (typeof value === "string") return [[name, value]];
  return Object.entries(value ?? {}).flatMap(([key, values]) =>
    values.map((one): [string, string] => [`${name}[${key}]`, one]),
  );
}
