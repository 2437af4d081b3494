import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Milliseconds between a confirmation page and its form. */
const lifetimeMs = 10 * 60_000;

export type Confirmations = {
  /** A token for one action, to be sent back by the form that confirms it. */
  issue: (action: string, target: string) => string;
  /** Whether a token is one for this action; each is accepted once. */
  accept: (token: string, action: string, target: string) => boolean;
};

/** Tokens of confirmation pages: a form without one, or with one of another action, does nothing. */
export function openConfirmations(now: () => Date): Confirmations {
  const secret = randomBytes(32);
  const used = new Map<string, number>();
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  const bodyOf = (action: string, target: string, head: string) =>
    JSON.stringify([action, target, head]);
  return {
    issue(action, target) {
      const head = `${now().getTime() + lifetimeMs}.${randomBytes(9).toString("base64url")}`;
      return `${head}.${sign(bodyOf(action, target, head))}`;
    },
    accept(token, action, target) {
      const [, head = "", until = "", signature = ""] =
        /^((\d{1,16})\.[\w-]{12})\.([\w-]{43})$/.exec(token) ?? [];
      const expected = Buffer.from(sign(bodyOf(action, target, head)));
      const given = Buffer.from(signature);
      const time = now().getTime();
      for (const [one, expiry] of used) if (expiry < time) used.delete(one);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
      if (Number(until) < time || used.has(head)) return false;
      used.set(head, Number(until));
      return true;
    },
  };
}
