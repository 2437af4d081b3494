import cors from "cors";
import type { RequestHandler } from "express";
import helmet from "helmet";

/** Reads are open to every site; credentials are never taken from cookies. */
export const openCors: RequestHandler = cors({
  origin: "*",
  methods: ["GET", "HEAD", "POST"],
  allowedHeaders: [
    "Authorization",
    "Content-Type",
    "If-None-Match",
    "Last-Event-ID",
    "X-API-Key",
    "X-Request-Id",
  ],
  exposedHeaders: [
    "ETag",
    "Link",
    "Retry-After",
    "X-Request-Id",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "WWW-Authenticate",
  ],
  maxAge: 86_400,
});

/** Data is never a document: nothing in an answer may load or run. */
export const dataHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { "default-src": ["'none'"], "frame-ancestors": ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: "cross-origin" },
});

/** Our own pages run only what this host serves. `data:` images are icons inside style sheets. */
export const pageHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": ["'self'", "data:"],
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
    },
  },
});
