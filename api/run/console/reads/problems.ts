import type { FetchChainHead } from "../../inspection/fetch-chain-head.ts";
import { findProblems } from "../../inspection/find-problems.ts";
import type { Finding } from "../../inspection/find-server-problems.ts";
import type { OtherDatabase } from "./databases.ts";

/** Milliseconds for which findings are shown: looking for them reads the whole catalog. */
const maxAgeMs = 20_000;

type Problems = { at: Date; findings: Finding[] };
export type ReadProblems = () => Promise<Problems>;

type Options = {
  main: Pick<OtherDatabase, "db" | "config">;
  others: readonly OtherDatabase[];
  fetchHead: FetchChainHead;
  now: () => Date;
};

/** What `op doctor` finds, at most 20 s old. Concurrent callers share one search. */
export function openProblemReader({ main, others, fetchHead, now }: Options): ReadProblems {
  const findAll = async () => {
    const found = await Promise.all([
      findProblems(main.db, main.config, fetchHead),
      ...others.map((one) => findOthers(one, fetchHead)),
    ]);
    return found.flat();
  };
  let current: { promise: Promise<Problems>; since: number } | undefined;
  return () => {
    const at = now();
    if (current !== undefined && at.getTime() - current.since < maxAgeMs) return current.promise;
    const promise = findAll().then((findings) => ({ at, findings }));
    const mine = { promise, since: at.getTime() };
    current = mine;
    promise.catch(() => {
      if (current === mine) current = undefined;
    });
    return promise;
  };
}

/** Of one of several databases, which each finding names. */
async function findOthers(
  { name, db, config }: OtherDatabase,
  fetchHead: FetchChainHead,
): Promise<Finding[]> {
  const unanswered = (error: Error): Finding[] => [
    {
      about: "database",
      isFault: true,
      finding: `does not answer: ${error.message}`,
      advice: `is its server running? op --cell ${name} doctor`,
    },
  ];
  const findings = await findProblems(db, config, fetchHead).catch(unanswered);
  return findings.map((one) => ({ ...one, about: `${one.about} (database ${name})` }));
}
