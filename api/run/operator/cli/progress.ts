import type { BuildProgress } from "../../../../projections/engine/build.ts";

/** Milliseconds between two lines on a terminal and elsewhere. */
const EVERY_MS = { terminal: 250, elsewhere: 5_000 };

/** How far derivations are, several at a time. */
export type Progress = {
  report: (progress: BuildProgress) => void;
  /** What is derived no more is shown no more. */
  done: (projection: string) => void;
  end: () => void;
};

type Seen = { first: BuildProgress; latest: BuildProgress; startedAt: number };

/** Shows on the error output how far derivations are: one changing line on a terminal, else a line now and then. */
export function openProgress(verb: string): Progress {
  const output = process.stderr;
  const seen = new Map<string, Seen>();
  let shown = "";
  const show = () => {
    const now = performance.now();
    const words = [...seen.values()].map((one) => describe(one, (now - one.startedAt) / 1_000));
    const line = `${verb} ${words.join("; ")}`.slice(
      0,
      output.isTTY ? output.columns - 1 : undefined,
    );
    if (words.length === 0 || line === shown) return;
    shown = line;
    output.write(output.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
  const timer = setInterval(show, output.isTTY ? EVERY_MS.terminal : EVERY_MS.elsewhere);
  const clear = () => {
    if (output.isTTY && shown !== "") output.write("\r\u001b[K");
  };
  return {
    report(progress) {
      const { first, latest, startedAt } = seen.get(progress.projection) ?? {
        startedAt: performance.now(),
      };
      const isNews = latest === undefined || latest.step !== progress.step;
      const begun = first === undefined || isNews ? progress : first;
      seen.set(progress.projection, { first: begun, latest: progress, startedAt });
      if (shown === "" || (isNews && output.isTTY)) show();
    },
    done(projection) {
      seen.delete(projection);
      clear();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

function describe({ first, latest }: Seen, seconds: number): string {
  const { projection, position, head, step, factsPerSecond } = latest;
  if (step !== undefined) {
    const done = `${projection}: ${head} facts, ${step}, ${seconds.toFixed(0)} s`;
    if (factsPerSecond === undefined || factsPerSecond === null) return done;
    return `${done}, ${left(Number(head) / factsPerSecond - seconds)} at the last one's ${Math.round(factsPerSecond)} facts/s`;
  }
  const percent = head === 0n ? 100 : Number((position * 100n) / head);
  const done = `${projection}: ${position} of ${head} facts (${percent} %)`;
  const rate = Number(position - first.position) / seconds;
  if (!(rate > 0)) return done;
  return `${done}, ${Math.round(rate)} facts/s, ${left(Number(head - position) / rate)}`;
}

const left = (seconds: number): string => `${Math.max(0, Math.ceil(seconds))} s left`;
