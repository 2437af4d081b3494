import { Hono } from "hono";

/** Ponder insists on an application; it adds /health, /ready, /status and /metrics to this empty one. */
export default new Hono();
