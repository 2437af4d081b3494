import type { Express, Request, RequestHandler, Response } from "express";
import { accountChain } from "#chains/index.ts";
import type { CallerStreams, StreamCaller } from "../accounts/caller-streams.ts";
import { countStreamOrRefuse, streamQuery } from "../feed/answer-feed.ts";
import { jsonDocument, sendFixed } from "../http/answer.ts";
import { type ApiProfile, flatEnvelope } from "../http/api-profile.ts";
import { limitAddresses } from "../http/limit.ts";
import { mountRoutes, servePath } from "../http/mount.ts";
import { refuseUnknownParameters } from "../http/query.ts";
import { callerAddress } from "../http/request.ts";
import { withoutLongAnswers } from "../reference/examples.ts";
import type { MediaLinks } from "../v1/media-links.ts";
import type { NftDataContext } from "./context.ts";
import { type BearerOptions, bearerOf, requireBearer } from "./login.ts";
import { nftDataRoutes } from "./routes.ts";

const chainId = accountChain.id;

/** The settings that the account API needs. `limits.account`: requests per minute. */
type AccountApiConfig = {
  readonly http: { readonly siteUrl: string; readonly accountApiPath: string };
  readonly access: { readonly limits: { readonly account: number } };
  readonly chains: readonly { readonly chainId: number }[];
};

type Parts = Pick<NftDataContext, "db" | "prefix" | "isPaused" | "tokens"> &
  Pick<NftDataApi, "limiter" | "onUse">;

/** The account API of one process; undefined when its chain is not configured. */
export function openNftData(
  { http, access, chains }: AccountApiConfig,
  { limiter, onUse, ...parts }: Parts,
): NftDataApi | undefined {
  if (chains.every((chain) => chain.chainId !== chainId)) return undefined;
  const { siteUrl, accountApiPath: segment } = http;
  const context = { ...parts, siteUrl, chainId, now: () => new Date() } as const;
  return { context, segment, limiter, onUse, perMinute: access.limits.account };
}

export type NftDataApi = Omit<BearerOptions, "tokens"> & {
  readonly context: Omit<NftDataContext, "media">;
  /** First segment of every path. */
  readonly segment: string;
  /** Handler of `/api/activity/stream`, after authentication. */
  readonly stream?: RequestHandler;
  /** Bounds of a caller's streams; without them there are none. */
  readonly streams?: CallerStreams | undefined;
};

/** Its document, and what it shares with the other API. */
type Shared = { readonly document: { readonly paths: object } } & Pick<
  ApiProfile,
  "concurrency" | "slowRequests" | "reads"
>;

/** Mounts the account API: document, login, and the endpoints that need a token. */
export function mountNftData(
  app: Express,
  baseUrl: string,
  api: NftDataApi & Shared,
  media: MediaLinks,
): void {
  const context = { ...api.context, media };
  const { segment, limiter, perMinute, onUse, stream, streams, concurrency } = api;
  const { slowRequests, reads } = api;
  const prefix = `/${segment}`;
  const challenge = 'Bearer realm="account API"';
  const profile = {
    envelope: flatEnvelope,
    prefix,
    challenge,
    concurrency,
    slowRequests,
    reads,
  };
  const document = sendFixed(jsonDocument(withoutLongAnswers(api.document), {}));
  servePath(app, `${prefix}/openapi.json`, { get: [refuseUnknownParameters([]), document] });

  const open = nftDataRoutes.filter(({ isOpen }) => isOpen === true);
  const others = nftDataRoutes.filter(({ isOpen }) => isOpen !== true);
  if (limiter !== undefined) {
    for (const { path } of open) app.use(prefix + path, limitAddresses(limiter));
  }
  mountRoutes(app, open, context, baseUrl, profile);
  app.use(prefix, requireBearer({ tokens: context.tokens, limiter, perMinute, onUse }));
  if (stream !== undefined) {
    const bounded: RequestHandler = (request, response, next) => {
      if (countStreamOrRefuse(streams, streamCallerOf(request, response), response)) next();
    };
    const known = refuseUnknownParameters(Object.keys(streamQuery.shape));
    servePath(app, `${prefix}/api/activity/stream`, { get: [known, bounded, stream] });
  }
  mountRoutes(app, others, context, baseUrl, profile);
}

function streamCallerOf(request: Request, response: Response): StreamCaller {
  const { id, accountId } = bearerOf(response);
  return { accountId, address: callerAddress(request), credential: { kind: "token", id } };
}
