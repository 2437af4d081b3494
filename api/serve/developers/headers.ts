import type { RequestHandler } from "express";
import helmet from "helmet";

const secure = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'self'"],
      "frame-ancestors": ["'none'"],
    },
  },
  // Without a referrer browsers call the origin of a form "null".
  referrerPolicy: { policy: "same-origin" },
});

/**
 * For pages that hold somebody's secrets: nothing is kept, no other site reads them, and they are not compressed, since
 * the length of what is would tell of a secret beside a text that somebody else chose.
 */
export const developerHeaders: RequestHandler = (request, response, next) => {
  response.removeHeader("Access-Control-Allow-Origin");
  response.removeHeader("Access-Control-Expose-Headers");
  response.set("Cache-Control", "no-store, no-transform");
  secure(request, response, next);
};
