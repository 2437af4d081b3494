import type { Request, Response } from "express";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type Document,
  jsonDocument,
  mediaDocument,
  sendDocument,
  sendRejection,
  sendResult,
} from "./answer.ts";
import type { ApiProfile, Envelope } from "./api-profile.ts";
import type { LoadClass } from "./concurrency.ts";
import { keyOf } from "./limit.ts";
import { nextLink } from "./page.ts";
import { addressOf, minPosition, positionRefusals, setPosition } from "./reads/position.ts";
import type { PositionedReads, PositionedSnapshot } from "./reads/positioned-reads.ts";
import { callerAddress } from "./request.ts";
import {
  type Answer,
  type Input,
  planningOf,
  type Refusal,
  type Refused,
  type Route,
  readsOf,
  successesOf,
} from "./route.ts";

/** Answers the requests to a route. */
export function handler<Context>(
  route: Route<Context>,
  context: Context,
  baseUrl: string,
  profile: ApiProfile,
): Handler {
  const refuse: Refuse = (response, rejection) => {
    const refusal = { ...route.refuses, ...positionRefusals }[rejection.rejected];
    if (refusal === undefined)
      throw new Error(`${route.path} does not declare ${rejection.rejected}`);
    sendRefusal(response, refusal, rejection, profile.challenge);
  };
  if (route.method === "post") return resultHandler(route, context, profile, refuse);
  return documentHandler(route, context, baseUrl, profile, refuse);
}

type Handler = (request: Request, response: Response) => Promise<void>;
type Refuse = (response: Response, rejection: Refused) => void;

/** Of POST: what it does is seen by every request that names the position of its answer. */
function resultHandler<Context>(
  route: Route<Context>,
  context: Context,
  { envelope, reads }: ApiProfile,
  refuse: Refuse,
): Handler {
  const send = (response: Response, answer: Answer | Refused) => {
    if (isRejection(answer)) refuse(response, answer);
    else sendResult(response, statusOf(answer, route), bodyOf(answer, envelope));
  };
  const { loadClass = "data" } = route;
  const source = readsOf(route);
  return async (request, response) => {
    const input = inputOf(request, response);
    if (source === "nothing" || reads === undefined)
      return send(response, await route.answer(input, context));
    const atLeast = minPosition(request);
    if (isRejection(atLeast)) return refuse(response, atLeast);
    const handling = route.validate(input, context);
    if (isRejection(handling)) return refuse(response, handling);
    if (source === "snapshot") {
      const answer = await reads.inSnapshot({ loadClass, atLeast }, async ({ db, facts }) => {
        const made = await handling({ ...context, db });
        setPosition(response, facts.answered);
        return made;
      });
      return send(response, answer);
    }
    await reads.reachOnPrimary(atLeast);
    const db = reads.primary.dbOf(loadClass);
    const answer = await handling({ ...context, db });
    setPosition(response, await reads.readPrimaryPosition());
    send(response, answer);
  };
}

type Positioned = { reads: PositionedReads; atLeast: bigint };

/** Statement by statement: no connection is held while others are asked. What is read is at least at the position. */
async function readPrimary<Result>(
  { reads, atLeast }: Positioned,
  loadClass: LoadClass,
  read: (db: Database) => Promise<Result>,
): Promise<{ made: Result; position: bigint }> {
  await reads.reachOnPrimary(atLeast);
  const { position } = await reads.primary.readVersion();
  return { made: await read(reads.primary.dbOf(loadClass)), position };
}

/** A refusal, and the position of what it was made from. */
type RefusedAt = { readonly refused: Refused; readonly position?: bigint };

function documentHandler<Context>(
  route: Route<Context>,
  context: Context,
  baseUrl: string,
  { envelope, cache, reads: served }: ApiProfile,
  refuse: Refuse,
): Handler {
  const { loadClass = "data" } = route;
  const source = readsOf(route);
  const make = async (
    request: Request,
    answering: Promise<Answer | Refused>,
    positionNow?: () => bigint,
  ): Promise<Document | RefusedAt> => {
    const answer = await answering;
    const at = positionNow === undefined ? {} : { position: positionNow() };
    if (isRejection(answer)) return { refused: answer, ...at };
    const maxAgeSeconds = answer.maxAgeSeconds ?? route.maxAgeSeconds;
    const link = nextLink(baseUrl, addressOf(request), answer.meta);
    const { isVolatile = false, media } = answer;
    if (media !== undefined)
      return { ...mediaDocument(media, maxAgeSeconds), ...{ link, isVolatile }, ...at };
    const { isPrivate = false } = route;
    const alwaysCounts = source !== "snapshot";
    const options = { link, maxAgeSeconds, isVolatile, isPrivate, alwaysCounts };
    return { ...jsonDocument(bodyOf(answer, envelope), options), ...at };
  };
  const isPlannedOnce = planningOf(route);
  const answer = async (
    request: Request,
    response: Response,
    { reads, atLeast }: Positioned,
  ): Promise<Document | RefusedAt> => {
    const input = inputOf(request, response);
    const wanted = { loadClass, atLeast, plansOnce: isPlannedOnce(input.query) };
    const positionAt =
      ({ facts }: PositionedSnapshot) =>
      () =>
        facts.answered;
    await route.prepare?.(input.query, context);
    // Valid or not is found out once for all who ask the same.
    if (route.isCacheable === true && cache !== undefined)
      return cache.get({ request: addressOf(request), reads, ...wanted }, (now, snapshot) => {
        const given = { ...context, db: snapshot.db, now: () => now };
        return make(request, route.answer(input, given), positionAt(snapshot));
      });
    const handling = route.validate(input, context);
    if (isRejection(handling)) return { refused: handling };
    if (source === "primary") {
      const { made, position } = await readPrimary({ reads, atLeast }, loadClass, (db) =>
        make(request, handling({ ...context, db })),
      );
      return { ...made, position };
    }
    return reads.inSnapshot(wanted, (snapshot) =>
      make(request, handling({ ...context, db: snapshot.db }), positionAt(snapshot)),
    );
  };
  const reads = source === "nothing" ? undefined : served;
  return async (request, response) => {
    if (reads === undefined) {
      const made = await make(request, route.answer(inputOf(request, response), context));
      return send(request, response, made);
    }
    const atLeast = minPosition(request);
    if (isRejection(atLeast)) return refuse(response, atLeast);
    return send(request, response, await answer(request, response, { reads, atLeast }));
  };

  async function send(request: Request, response: Response, made: Document | RefusedAt) {
    if (!("refused" in made)) return sendDocument(request, response, made);
    if (made.position !== undefined) setPosition(response, made.position);
    refuse(response, made.refused);
  }
}

function inputOf(request: Request, response: Response): Input {
  const { params, query, body } = request;
  return { params, query, body, address: callerAddress(request), key: keyOf(response) };
}

export function sendRefusal(
  response: Response,
  refusal: Refusal,
  rejection: Refused,
  challenge: string | undefined,
): void {
  const { status, ...extra } = typeof refusal === "number" ? { status: refusal } : refusal;
  const fallback = status === 503 ? unavailableSeconds : undefined;
  const retryAfterSeconds = rejection.retryAfterSeconds ?? fallback;
  if (status === 401 && challenge !== undefined) response.set("WWW-Authenticate", challenge);
  if (retryAfterSeconds !== undefined) response.set("Retry-After", String(retryAfterSeconds));
  sendRejection(response, status, rejection, extra);
}

/** `Retry-After` of a 503 that does not say when it ends, as of a chain that does not answer. */
export const unavailableSeconds = 5;

function statusOf<Context>({ status }: Answer, route: Route<Context>): number {
  const [first, ...others] = Object.keys(successesOf(route));
  if (status === undefined && others.length > 0)
    throw new Error(`${route.path} does not say which success its answer is`);
  return status ?? Number(first);
}

function bodyOf({ data, meta, batch }: Answer, { wrap }: Envelope): Record<string, unknown> {
  if (batch === undefined) return wrap({ data, meta });
  const { message, isDone } = batch;
  return { success: isDone, message, ...(!isDone && { error: message }), data };
}
