import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { callerAddress, networkOf } from "#api/http/request.ts";
import { createWindows } from "#jobs/runner/limits.ts";
import { isLoopback } from "../config/config.ts";

/** Wrong passwords in a minute from one address, after which it is refused until the minute ends. */
const mostFailures = 20;
const minuteMs = 60_000;

type GuardOptions = { password: string | null; now: () => Date };

/**
 * Lets in whoever knows the password. Without one, whoever is on this machine: requests that name another host are
 * refused, since a page of another site could otherwise reach the console under a name of its own (DNS rebinding).
 */
export function guard({ password, now }: GuardOptions): RequestHandler {
  if (password !== null) return askForPassword(password, now);
  return (request, response, next) => {
    if (isLoopback(request.hostname)) next();
    else refuse(response, 403, "The console answers on this machine only");
  };
}

function askForPassword(password: string, now: () => Date): RequestHandler {
  // By address: whoever reaches the console could else lock the operator out.
  const failures = createWindows(minuteMs, () => now().getTime());
  return (request, response, next) => {
    const address = networkOf(callerAddress(request));
    const given = credentialsOf(request);
    if (failures.of(address) >= mostFailures) {
      response.set("Retry-After", "60");
      refuse(response, 429, "Too many wrong passwords: wait a minute");
      return;
    }
    if (given !== null && isEqual(given.password, password)) {
      next();
      return;
    }
    if (given !== null) failures.count(address);
    response.set("WWW-Authenticate", 'Basic realm="Operator console", charset="UTF-8"');
    refuse(response, 401, "Your name, and the password of OPERATOR_PASSWORD");
  };
}

/** The name that goes with the password; null where none was sent. */
export const operatorOf = (request: Request): string | null =>
  credentialsOf(request)?.name.slice(0, 60) || null;

function credentialsOf(request: Request): { name: string; password: string } | null {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(request.get("authorization") ?? "") ?? [];
  if (encoded === undefined) return null;
  const [, name, password] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return name === undefined || password === undefined ? null : { name, password };
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

function refuse(response: Response, status: number, message: string): void {
  response.status(status).type("text").end(`${message}\n`);
}
