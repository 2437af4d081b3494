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
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'self'"],
      "frame-ancestors": ["'none'"],
    },
  },
  // Without a referrer browsers send "null" as the origin of a form.
  referrerPolicy: { policy: "same-origin" },
});

/** For all answers of the console: not stored, and scripts, styles and forms of its own only. */
export const consoleHeaders: RequestHandler = (request, response, next) => {
  response.set("Cache-Control", "no-store");
  secure(request, response, next);
};
