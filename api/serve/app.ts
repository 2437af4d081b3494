import compression from "compression";
import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import { pinoHttp } from "pino-http";
import { mountDevelopers } from "./developers/mount-developers.ts";
import type { Developers } from "./developers/visit.ts";
import type { Feed } from "./feed/open-feed.ts";
import { sendText } from "./http/answer.ts";
import { metaEnvelope } from "./http/envelope.ts";
import type { KeptAnswers } from "./http/kept-answers.ts";
import { type Limiter, limitRequests } from "./http/limit.ts";
import { measureRequests, openMetrics } from "./http/metrics.ts";
import { mountRoutes, servePath } from "./http/mount.ts";
import { describeRoutes, thisDocument } from "./http/openapi.ts";
import { answerErrors, answerUnknownPath } from "./http/problem.ts";
import { assignRequestId } from "./http/request-id.ts";
import { dataHeaders, openCors, pageHeaders } from "./http/security.ts";
import { maskKeys } from "./keys/key-text.ts";
import { mountNftData, type NftDataApi } from "./nft-data/mount.ts";
import { answerHome } from "./pages/home.ts";
import { mountReference } from "./pages/reference.ts";
import { gaugeFeed } from "./status/feed-gauges.ts";
import { gaugeStatus } from "./status/gauges.ts";
import { gaugePartners } from "./status/partner-gauges.ts";
import { answerHealth, answerReadiness } from "./status/readiness.ts";
import type { Context } from "./v1/context.ts";
import { routes } from "./v1/routes.ts";

export type AppOptions = {
  readonly context: Context;
  /** Address under which callers reach the app, without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Counts what is asked under /v1; without it nothing is counted. */
  readonly limiter?: Limiter;
  /** The developer section; without it there is none. */
  readonly developers?: Developers;
  /** The account API; without it there is none. */
  readonly nftData?: NftDataApi | undefined;
  /** The live feed that the account API's stream is of: its readers are counted. */
  readonly feed?: Pick<Feed, "figures">;
  /** Where answers stay until something changes that they are made of; without it each is made anew. */
  readonly answers?: KeptAnswers;
  /** Proxies whose word for a caller's address is taken: how many stand before the app, or their networks. */
  readonly trustProxy?: number | readonly string[];
};

/** Everything that answers over HTTP. */
export function createApp(options: AppOptions): Express {
  const { context, baseUrl, logger, limiter, developers, nftData, feed, answers, trustProxy } =
    options;
  const app = express();
  const metrics = openMetrics();
  gaugeStatus(metrics, context.readStatus);
  gaugePartners(metrics, context.db);
  if (feed !== undefined) gaugeFeed(metrics, feed);

  app.disable("x-powered-by");
  app.set("etag", false);
  app.set("query parser", "extended");
  app.set("trust proxy", trustProxy ?? 0);
  app.use(measureRequests(metrics), logRequests(logger), dataHeaders, openCors, compression());

  const document = JSON.stringify(describe(baseUrl));
  servePath(app, "/v1/openapi.json", {
    get: [
      (request, response) => {
        const type = "application/json; charset=utf-8";
        return sendText(request, response, { type, text: document, cacheControl: "no-cache" });
      },
    ],
  });
  if (limiter !== undefined) app.use("/v1", limitRequests(limiter));
  mountRoutes(app, routes, context, baseUrl, { envelope: metaEnvelope, prefix: "", answers });
  mountReference(app);
  if (developers !== undefined) mountDevelopers(app, developers, logger);
  if (nftData !== undefined) mountNftData(app, baseUrl, nftData);
  servePath(app, "/", { get: [pageHeaders, answerHome(baseUrl, context.chains)] });
  servePath(app, "/healthz", { get: [answerHealth] });
  servePath(app, "/readyz", { get: [answerReadiness(context.readStatus)] });
  servePath(app, "/metrics", {
    get: [
      async (_request, response) => {
        const text = await metrics.metrics();
        response
          .set({ "Content-Type": metrics.contentType, "Cache-Control": "no-store" })
          .end(text);
      },
    ],
  });

  app.use(answerUnknownPath);
  app.use(answerErrors(logger));
  return app;
}

/** The interface's own version, not the package's. */
const interfaceVersion = "2.0.0";

function describe(baseUrl: string) {
  const info = {
    title: "NFT market data and order book",
    version: interfaceVersion,
    description:
      "Collections, tokens and sales of Ethereum (chain 1) and ApeChain (chain 33139). " +
      "Amounts in wei and token ids are decimal strings; addresses are lower case; times are UTC.",
    baseUrl,
  };
  return describeRoutes(routes, info, { "/v1/openapi.json": thisDocument });
}

/** Told at debug: a busy service would say nothing else. Headers hold keys and are left out, and so is a key that someone put into an address. */
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
