import type { RequestHandler } from "express";
import helmet from "helmet";
import { pagePolicy } from "#api/http/security.ts";
import type { MediaLinks } from "#api/serve/views/media.ts";

/**
 * For the market's pages: our own scripts and styles only, and forms to ourselves. Images and videos of tokens stand
 * anywhere on the web and redirect further, so that https is the only bound on them.
 */
export function siteHeaders(
  media: Pick<MediaLinks, "ipfsGateway" | "arweaveGateway">,
): RequestHandler {
  const gateways = [media.ipfsGateway, media.arweaveGateway].map((url) => new URL(url).origin);
  const sources = ["'self'", "https:", ...new Set(gateways.filter((one) => !/^https:/.test(one)))];
  const secure = helmet({
    contentSecurityPolicy: pagePolicy({
      "img-src": sources,
      "media-src": sources,
      "connect-src": ["'self'"],
      "form-action": ["'self'"],
    }),
    referrerPolicy: { policy: "no-referrer" },
  });
  return (request, response, next) => {
    response.removeHeader("Access-Control-Allow-Origin");
    response.removeHeader("Access-Control-Expose-Headers");
    secure(request, response, next);
  };
}
