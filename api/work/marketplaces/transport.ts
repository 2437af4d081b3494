import { Agent } from "undici";
import { reject } from "../../../projections/domain/rejection.ts";
import { type Answer, type Attempt, attempt, type Question } from "./attempt.ts";
import { createBreaker } from "./breaker.ts";
import type { PartnerFailure } from "./partner.ts";
import { type Clock, createRateBudget, wallClock } from "./rate-budget.ts";

/** How long whoever asks can wait. */
export type Patience = {
  /** Of one request, body included. */
  timeoutMs: number;
  /** For a turn within the budget, and for what the partner asks with `Retry-After`. */
  waitMs: number;
  /** Requests at most for one question. */
  tries: number;
};

/** Somebody waits for an answer; or nobody does. */
export const hurried: Patience = { timeoutMs: 5_000, waitMs: 2_000, tries: 2 };
export const patient: Patience = { timeoutMs: 20_000, waitMs: 60_000, tries: 4 };

export type TransportOptions = {
  /** The partner's name in what is said of failures. */
  name: string;
  url: string;
  /** Sent with every request and told to nobody else. */
  headers: Readonly<Record<string, string>>;
  requestsPerMinute: number;
  patience: Patience;
  clock?: Clock;
  random?: () => number;
};

export type Transport = {
  /** The partner's answer with any status from 200 to 499 that is not about who asks or how often. */
  ask(question: Question): Promise<Answer | PartnerFailure>;
  close(): Promise<void>;
};

const firstBackoffMs = 500;
/** What a partner that is asked too often is granted where it does not say how long. */
const restMs = 5_000;
const longestRestMs = 3_600_000;
const connectionsAtMost = 8;

/**
 * The way to one partner: within its budget, with tries again where that may help, and left alone while it fails.
 * Equal reads that are under way at once are one request.
 */
export function openTransport(options: TransportOptions): Transport {
  const { name, requestsPerMinute, patience, clock = wallClock, random = Math.random } = options;
  const { timeoutMs } = patience;
  const base = options.url.replace(/\/+$/, "");
  const dispatcher = new Agent({ connections: connectionsAtMost, connect: { timeout: timeoutMs } });
  const breaker = createBreaker(clock);
  const budgets = {
    read: createRateBudget(requestsPerMinute, clock),
    act: createRateBudget(Math.ceil(requestsPerMinute / 2), clock),
  };
  const underWay = new Map<string, Promise<Answer | PartnerFailure>>();

  /** What is told holds no header, no query and no address: one of them may be a key. */
  const failure = ({ method, path }: Question, reason: string): PartnerFailure =>
    reject("upstream_error", `${name} did not answer ${method} ${path}: ${reason}`);

  async function tryOnce(question: Question): Promise<Attempt> {
    if (!breaker.enter()) return { fault: "it failed too often and is left alone", again: false };
    if (!(await budgets[question.budget].take(patience.waitMs))) {
      breaker.leave();
      return { fault: "its budget of requests is used up", again: false };
    }
    const made = await attempt(question, { base, headers: options.headers, dispatcher, timeoutMs });
    if (!("fault" in made)) breaker.succeed();
    else if (made.restMs === undefined) breaker.fail();
    else note(made.restMs);
    return made;
  }

  function note(asked: number | null): void {
    breaker.succeed();
    const ms = Math.min(asked ?? restMs, longestRestMs);
    for (const budget of Object.values(budgets)) budget.rest(ms);
  }

  async function ask(question: Question): Promise<Answer | PartnerFailure> {
    for (let tries = 1; ; tries += 1) {
      const made = await tryOnce(question);
      if (!("fault" in made)) return made;
      if (!made.again || tries >= patience.tries) return failure(question, made.fault);
      // Between half of the step and all of it, so that callers that failed together part.
      await clock.sleep(firstBackoffMs * 2 ** (tries - 1) * (0.5 + random() / 2));
    }
  }

  return {
    ask(question) {
      if (question.method !== "GET") return ask(question);
      const key = JSON.stringify([question.path, question.query]);
      const known = underWay.get(key);
      if (known !== undefined) return known;
      const asked = ask(question).finally(() => underWay.delete(key));
      underWay.set(key, asked);
      return asked;
    },
    close: () => dispatcher.destroy(),
  };
}
