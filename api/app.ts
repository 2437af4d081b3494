import compression from "compression";
import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import { pinoHttp } from "pino-http";
import type { Registry } from "prom-client";
import { projectionNames } from "../projections/all.ts";
import { mountNftData, type NftDataApi } from "./account/mount.ts";
import { describeNftData } from "./account/routes.ts";
import type { CallerStreams } from "./accounts/caller-streams.ts";
import { mountAlchemy } from "./alchemy/mount.ts";
import { streamEvents } from "./feed/event-stream.ts";
import type { Feed } from "./feed/open-feed.ts";
import type { FeedOf } from "./feed/start-feed.ts";
import { skipPrepared } from "./http/answer.ts";
import { metaEnvelope } from "./http/api-profile.ts";
import type { ConcurrencyLimiter } from "./http/concurrency.ts";
import { explainErrors, handleErrors, handleUnknownPath } from "./http/failures.ts";
import { type Limiter, limitRequests } from "./http/limit.ts";
import { measureRequests, openMetrics } from "./http/metrics.ts";
import { mountRoutes, servePath } from "./http/mount.ts";
import { parseQuery } from "./http/query.ts";
import { openPositionedReads, type PositionedReads } from "./http/reads/positioned-reads.ts";
import { cacheByState, type ResponseCache } from "./http/reads/response-cache.ts";
import { openTarget } from "./http/reads/target.ts";
import { assignRequestId } from "./http/request.ts";
import type { Route } from "./http/route.ts";
import { dataHeaders, openCors } from "./http/security.ts";
import {
  gaugeConcurrency,
  gaugeSlowRequests,
  openSlowRequests,
  type SlowRequests,
} from "./http/slow-requests.ts";
import { maskKeys } from "./keys/key-text.ts";
import { mountMcp } from "./mcp/mount.ts";
import { mountOpenSea } from "./opensea/mount.ts";
import { isBuyingPaused } from "./orders/market.ts";
import type { Developers } from "./pages/developers/layout.ts";
import { mountDevelopers } from "./pages/developers/mount-developers.ts";
import { answerHome } from "./pages/home.ts";
import { answerUnknownPages, mountSite } from "./pages/kit/mount-site.ts";
import { pages as sitePages } from "./pages/pages.ts";
import {
  describedApis,
  mountReferences,
  referenceHeaders,
} from "./pages/reference/mount-reference.ts";
import { mountSharing } from "./pages/sharing/mount-sharing.ts";
import type { Pictures } from "./pictures/open-pictures.ts";
import { mountDocuments } from "./reference/mount-documents.ts";
import { describeV1, routes as v1Routes } from "./routes.ts";
import { openFailureReader } from "./status/explain-failure.ts";
import {
  gaugeAnalytics,
  gaugeCallerStreams,
  gaugeFeed,
  gaugeMarket,
  gaugeOutgoing,
  gaugePartners,
  gaugeStatus,
  gaugeUnresolvedEvents,
} from "./status/gauges.ts";
import { gaugeJobs } from "./status/job-gauges.ts";
import { answerHealth, answerMetrics, answerReadiness } from "./status/operator-app.ts";
import { gaugeReplicas, type ReplicaFigures } from "./status/replica-gauges.ts";
import type { StatusReader } from "./status/status-reader.ts";
import { type Context, type V1Route, v1Parameters } from "./v1/context.ts";
import { defaultGateways, type MediaLinks } from "./v1/media-links.ts";

export type AppOptions = {
  readonly context: Omit<Context, "media"> & { readonly readStatus: StatusReader };
  /** Endpoints of /v1; by default all of `routes.ts`. */
  readonly routes?: readonly V1Route[];
  /** Public address of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** Where links to `ipfs://` and `ar://` media point. */
  readonly publicGateways?: Pick<MediaLinks, "ipfsGateway" | "arweaveGateway">;
  readonly logger: Logger;
  /** Rate limits for /v1; without it there are none. */
  readonly limiter?: Limiter;
  /** The developer pages; without it they are not served. */
  readonly developers?: Developers;
  /** The account API; without it it is not served. */
  readonly nftData?: Omit<NftDataApi, "streams" | "concurrency"> | undefined;
  /** The live feeds, for their metrics. */
  readonly feed?: Pick<Feed, "figures">;
  /** The live feed of a chain, for `/v1/events` and open pages; without it both are not live. */
  readonly feedOf?: FeedOf;
  /** Bounds of a caller's streams; without them there are none. */
  readonly streams?: CallerStreams;
  /** Where an operator's listener serves `/metrics`; without it they are served here. */
  readonly operatorMetrics?: Registry | undefined;
  /** Cache for responses; without it each response is made again. */
  readonly responseCache?: ResponseCache;
  /** Pictures for the pages; without them each is drawn. */
  readonly pictures?: Pictures;
  /** Limits of concurrency; without them there are none. */
  readonly concurrency?: ConcurrencyLimiter;
  /** The read replicas, for their metrics. */
  readonly replicas?: ReplicaFigures;
  /** Where answers are read from; by default the context's database. */
  readonly reads?: PositionedReads;
  /** Remembers the reads that took too long. */
  readonly slowRequests?: SlowRequests;
  /** Trusted proxies, for `X-Forwarded-For`: their number, or their networks. */
  readonly trustProxy?: number | readonly string[];
  /** Where weaknesses are reported to; null: nobody said. */
  readonly securityContact?: string | null;
};

/** The Express app with every HTTP endpoint and page. */
export function createApp(options: AppOptions): Express {
  const {
    context,
    routes = v1Routes,
    baseUrl,
    publicGateways = defaultGateways,
    logger,
    limiter,
    developers,
    nftData,
    feedOf,
    streams,
    operatorMetrics,
    responseCache: keptResponses,
    pictures,
    concurrency,
    reads = openPositionedReads({
      primary: openTarget({ db: context.db }, projectionNames),
      projections: projectionNames,
      written: context.market.writtenPosition,
    }),
    slowRequests = openSlowRequests(),
    trustProxy,
    securityContact = null,
  } = options;
  const responseCache =
    keptResponses &&
    cacheByState(keptResponses, async () => `${await isBuyingPaused(context.market)}`);
  const app = express();
  const explain = openFailureReader(reads);
  const metrics = operatorMetrics ?? openMetrics();
  gaugeAll(metrics, { ...options, slowRequests, reads });

  app.disable("x-powered-by");
  app.set("etag", false);
  app.set("query parser", parseQuery);
  app.set("trust proxy", trustProxy ?? 0);
  app.use(measureRequests(metrics), logRequests(logger), dataHeaders, openCors);
  app.use(compression({ filter: skipPrepared }));

  const document = describeV1(baseUrl, routes);
  const account = nftData && { ...nftData, document: describeAccountApi(nftData, baseUrl) };
  mountReferences(app, describedApis(document, account?.document, baseUrl), limiter);
  mountDocuments(app, document, { baseUrl, parameters: v1Parameters });
  if (limiter !== undefined) app.use("/v1", limitRequests(limiter, mediaPaths(routes)));
  if (feedOf !== undefined) app.get("/v1/events", streamEvents(feedOf, streams));
  const media = { baseUrl, ...publicGateways };
  const unknownPages: RequestHandler[] = [];
  const limits = { concurrency, slowRequests, reads };
  mountRoutes(app, routes, { ...context, media }, baseUrl, {
    envelope: metaEnvelope,
    prefix: "",
    parameters: v1Parameters,
    challenge: 'ApiKey header="X-API-Key"',
    cache: responseCache,
    ...limits,
  });
  mountAlchemy(app, { ...context, media }, { baseUrl, limiter, profile: limits });
  mountOpenSea(app, { ...context, media }, { baseUrl, limiter, profile: limits });
  mountMcp(app, { ...context, media }, { baseUrl, limiter, profile: limits, logger, explain });
  if (developers !== undefined) mountDevelopers(app, developers, { logger, limiter });
  if (account !== undefined) mountNftData(app, baseUrl, { ...account, streams, ...limits }, media);
  if (context.siteUrl === baseUrl) {
    const here = { ...context, siteUrl: "", media: { ...media, baseUrl: "" } };
    const parts = { logger, cache: responseCache, limiter, ...limits, feedOf, streams, explain };
    const site = { context: here, origin: baseUrl, pages: sitePages, pictures, ...parts };
    mountSite(app, site);
    mountSharing(app, { ...site, securityContact });
    unknownPages.push(answerUnknownPages(site));
  } else {
    servePath(app, "/", {
      get: [referenceHeaders, answerHome(baseUrl, context.chains, operatorMetrics === undefined)],
    });
  }
  servePath(app, "/healthz", { get: [answerHealth] });
  servePath(app, "/readyz", { get: [answerReadiness(context.readStatus)] });
  if (operatorMetrics === undefined)
    servePath(app, "/metrics", {
      get: [answerMetrics(metrics, keptMetricsMs)],
    });

  app.use(...unknownPages, handleUnknownPath);
  app.use(explainErrors(explain), handleErrors(logger));
  return app;
}

const describeAccountApi = (
  { segment, stream }: Pick<NftDataApi, "segment" | "stream">,
  baseUrl: string,
) => describeNftData(`${baseUrl}/${segment}`, { hasStream: stream !== undefined });

/** On the port that callers use, they do not make us collect them for each request. */
const keptMetricsMs = 1_000;

/** Logs requests at debug level. Headers are left out, and keys in URLs are masked: they are secrets. */
function logRequests(logger: Logger): RequestHandler {
  if (!logger.isLevelEnabled("debug")) {
    return (request, response, next) => {
      assignRequestId(request, response);
      next();
    };
  }
  return pinoHttp({
    logger,
    genReqId: assignRequestId,
    useLevel: "debug",
    serializers: {
      req: ({ id, method, url }) => ({ id, method, target: maskKeys(String(url)) }),
      res: ({ statusCode }) => ({ statusCode }),
    },
  });
}

function gaugeAll(
  metrics: Registry,
  options: AppOptions & Required<Pick<AppOptions, "slowRequests" | "reads">>,
): void {
  const { context, feed, streams, concurrency, slowRequests, replicas, reads } = options;
  const db = reads.primary.dbOf("data");
  gaugeStatus(metrics, context.readStatus);
  gaugePartners(metrics, db);
  gaugeUnresolvedEvents(metrics, db, context.chains);
  gaugeAnalytics(metrics, db);
  gaugeJobs(metrics, db);
  gaugeOutgoing(metrics, context.db, context.now);
  gaugeMarket(metrics, context.market);
  if (feed !== undefined) gaugeFeed(metrics, feed);
  if (streams !== undefined) gaugeCallerStreams(metrics, streams);
  if (concurrency !== undefined) gaugeConcurrency(metrics, concurrency);
  gaugeSlowRequests(metrics, slowRequests);
  if (replicas !== undefined) gaugeReplicas(metrics, replicas);
}

/** Tells the paths of routes with media, as Express matches them. */
function mediaPaths<Context>(
  routes: readonly Pick<Route<Context>, "path" | "mediaTypes">[],
): (path: string) => boolean {
  const patterns = routes
    .filter(({ mediaTypes }) => mediaTypes !== undefined)
    .map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`, "i"));
  return (path) => patterns.some((pattern) => pattern.test(path));
}
