import cors from "cors";
import type { RequestHandler } from "express";
import helmet from "helmet";

/** Any origin may read; credentials are never read from cookies. */
export const openCors: RequestHandler = cors({
  origin: "*",
  methods: ["GET", "HEAD", "POST"],
  allowedHeaders: [
    "Authorization",
    "Content-Type",
    "If-None-Match",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    "Traceparent",
    "Tracestate",
    "X-API-Key",
    "X-Min-Position",
    "X-Request-Id",
  ],
  exposedHeaders: [
    "ETag",
    "Link",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-Position",
    "X-Request-Id",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "WWW-Authenticate",
  ],
  maxAge: 86_400,
  // The path answers OPTIONS itself, with its own methods in Allow.
  preflightContinue: true,
});

/** For JSON responses: a browser may load and run nothing. */
export const dataHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { "default-src": ["'none'"], "frame-ancestors": ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: "cross-origin" },
});

type Sources = Readonly<Record<string, readonly string[]>>;

/** For pages of ours: scripts and styles of this host alone. `added` are sources of the page's own kinds of content. */
export const pagePolicy = (added: Sources) => ({
  useDefaults: false,
  directives: {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    ...added,
  },
});
