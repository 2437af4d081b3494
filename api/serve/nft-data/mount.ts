import type { Express, Request, RequestHandler, Response } from "express";
import type { CallerStreams, StreamCaller } from "../accounts/caller-streams.ts";
import { streamQuery } from "../feed/answer-feed.ts";
import { countStreamOrRefuse } from "../feed/count-stream.ts";
import { jsonDocument, sendFixed } from "../http/answer.ts";
import type { ApiProfile } from "../http/api-profile.ts";
import { callerAddress } from "../http/caller-address.ts";
import { flatEnvelope } from "../http/envelope.ts";
import { limitAddresses } from "../http/limit-addresses.ts";
import { mountRoutes, servePath } from "../http/mount.ts";
import { refuseUnknownParameters } from "../http/unknown-parameters.ts";
import { serveReference } from "../reference/mount-reference.ts";
import type { MediaLinks } from "../views/media.ts";
import type { NftDataContext } from "./context.ts";
import { describeNftData } from "./describe.ts";
import { type BearerOptions, bearerOf, requireBearer } from "./require-bearer.ts";
import { nftDataRoutes } from "./routes.ts";

export type NftDataApi = Omit<BearerOptions, "tokens"> & {
  readonly context: Omit<NftDataContext, "media">;
  /** First segment of every path. */
  readonly segment: string;
  /** Handler of `/api/activity/stream`, after authentication. */
  readonly stream?: RequestHandler;
  /** Bounds of a caller's streams; without them there are none. */
  readonly streams?: CallerStreams | undefined;
};

/** What it shares with the other API. */
type Shared = Pick<ApiProfile, "concurrency" | "slowRequests" | "reads">;

/** Mounts the account API: document, reference, login, and the endpoints that need a token. */
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
  const described = describeNftData(baseUrl + prefix, { hasStream: stream !== undefined });
  const document = sendFixed(jsonDocument(described, {}));
  servePath(app, `${prefix}/openapi.json`, { get: [refuseUnknownParameters([]), document] });
  serveReference(app, { path: `${prefix}/docs`, api: prefix, document: "/openapi.json" });

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
