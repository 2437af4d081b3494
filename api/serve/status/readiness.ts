import type { RequestHandler } from "express";
import { reject } from "../../../projections/domain/rejection.ts";
import { sendRejection } from "../http/answer.ts";
import type { StatusReader } from "./status-reader.ts";

/** The process is up; says nothing about what it depends on. */
export const answerHealth: RequestHandler = (_request, response) => {
  response.set("Cache-Control", "no-store").json({ success: true, data: { up: true } });
};

/** 200 only while every part is current, else 503 with the failing parts and how far they are behind. */
export function answerReadiness(readStatus: StatusReader): RequestHandler {
  return async (_request, response) => {
    const { ready, failing, warnings } = await readStatus();
    if (ready) {
      response.set("Cache-Control", "no-store").json({ success: true, data: { ready, warnings } });
      return;
    }
    const message = `Not ready: ${failing.map((one) => `${one.part} ${one.message}`).join("; ")}`;
    sendRejection(response, 503, reject("not_ready", message), { failing, warnings });
  };
}
