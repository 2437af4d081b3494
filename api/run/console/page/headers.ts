import type { RequestHandler } from "express";
import helmet from "helmet";
import { pagePolicy } from "#api/http/security.ts";

const secure = helmet({
  contentSecurityPolicy: pagePolicy({
    "img-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
  }),
  // Without a referrer browsers send "null" as the origin of a form.
  referrerPolicy: { policy: "same-origin" },
});

/** For all answers of the console: not stored, and scripts, styles and forms of its own only. */
export const consoleHeaders: RequestHandler = (request, response, next) => {
  response.set("Cache-Control", "no-store");
  secure(request, response, next);
};
