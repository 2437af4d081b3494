import type { RequestHandler } from "express";
import helmet from "helmet";
import { pagePolicy } from "#api/http/security.ts";

const secure = helmet({
  contentSecurityPolicy: pagePolicy({ "img-src": ["'self'"], "form-action": ["'self'"] }),
  // Without a referrer browsers send "null" as the origin of a form.
  referrerPolicy: { policy: "same-origin" },
});

/**
 * For pages with secrets: not stored, not readable by other sites, and not compressed, since the compressed length
 * could reveal a secret next to text chosen by an attacker (BREACH).
 */
export const developerHeaders: RequestHandler = (request, response, next) => {
  response.removeHeader("Access-Control-Allow-Origin");
  response.removeHeader("Access-Control-Expose-Headers");
  response.set("Cache-Control", "no-store, no-transform");
  secure(request, response, next);
};
