import type { RequestHandler } from "express";
import { reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "#api/http/answer.ts";
import { unavailableSeconds } from "#api/http/handler.ts";
import { maskNodes } from "./mask-nodes.ts";
import type { StatusReader } from "./status-reader.ts";

/** The process is up, whatever the state of its dependencies. */
export const answerHealth: RequestHandler = (_request, response) => {
  response.set("Cache-Control", "no-store").json({ success: true, data: { up: true } });
};

/** 200 while every part is current, else 503 with the failing parts and their lag. Nodes are named to operators only. */
export function answerReadiness(
  readStatus: StatusReader,
  audience: "public" | "operators" = "public",
): RequestHandler {
  return async (_request, response) => {
    const status = await readStatus();
    const { failing, warnings } = audience === "public" ? maskNodes(status) : status;
    const { ready } = status;
    if (ready) {
      response.set("Cache-Control", "no-store").json({ success: true, data: { ready, warnings } });
      return;
    }
    const message = `Not ready: ${failing.map((one) => `${one.part} ${one.message}`).join("; ")}`;
    response.set("Retry-After", String(unavailableSeconds));
    sendRejection(response, 503, reject("not_ready", message), { failing, warnings });
  };
}
