import type { BuildProgress } from "../../projections/engine/build.ts";

/** Milliseconds between two lines on a terminal and elsewhere. */
const EVERY_MS = { terminal: 250, elsewhere: 5_000 };

/** Shows on the error output how far a derivation is: one changing line on a terminal, else a line now and then. */
export function openProgress(verb: string): {
  report: (progress: BuildProgress) => void;
  end: () => void;
} {
  const output = process.stderr;
  const startedAt = performance.now();
  let first: BuildProgress | undefined;
  let latest: BuildProgress | undefined;
  let shown = "";
  const show = () => {
    if (first === undefined || latest === undefined) return;
    const words = describe(first, latest, (performance.now() - startedAt) / 1_000);
    const line = `${verb} ${words}`.slice(0, output.isTTY ? output.columns - 1 : undefined);
    if (line === shown) return;
    shown = line;
    output.write(output.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
  const timer = setInterval(show, output.isTTY ? EVERY_MS.terminal : EVERY_MS.elsewhere);
  return {
    report(progress) {
      const isNews = latest?.step !== progress.step;
      if (latest === undefined || isNews) first = progress;
      latest = progress;
      if (shown === "" || (isNews && output.isTTY)) show();
    },
    end() {
      clearInterval(timer);
      if (output.isTTY && shown !== "") output.write("\r\u001b[K");
    },
  };
}

function describe(first: BuildProgress, latest: BuildProgress, seconds: number): string {
  const { projection, position, head, step, pace } = latest;
  if (step !== undefined) {
    const done = `${projection}: ${head} facts, ${step}, ${seconds.toFixed(0)} s`;
    if (pace === undefined || pace === null) return done;
    return `${done}, ${left(Number(head) / pace - seconds)} at the last one's ${Math.round(pace)} facts/s`;
  }
  const percent = head === 0n ? 100 : Number((position * 100n) / head);
  const done = `${projection}: ${position} of ${head} facts (${percent} %)`;
  const rate = Number(position - first.position) / seconds;
  if (!(rate > 0)) return done;
  return `${done}, ${Math.round(rate)} facts/s, ${left(Number(head - position) / rate)}`;
}

const left = (seconds: number): string => `${Math.max(0, Math.ceil(seconds))} s left`;
