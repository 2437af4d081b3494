import type { BuildProgress } from "#projections/engine/rebuild.ts";
import type { ShownTask } from "../console/operations.ts";
import { barOf, openLiveLine } from "../output/live-line.ts";
import { terminalLines } from "../output/terminal-text.ts";
import { stringify } from "../reports/present-fact.ts";

/** Every command has it (`main.ts`). */
export type JsonFlag = { json?: boolean };

/** Prints the result of a command: one line of JSON, or lines of text. Strangers' texts only show in a terminal. */
export function print(json: boolean | undefined, content: unknown, lines: readonly string[]): void {
  const text = json ? stringify(content) : lines.join("\n");
  if (text !== "") process.stdout.write(`${terminalLines(text)}\n`);
}

/** Spaces between two columns. */
const gap = 2;
/** A column is not made narrower than this. */
const leastWidth = 6;

/**
 * Columns as wide as their widest cell. On a terminal whose width they exceed the widest ones are narrowed, and cells
 * that do not fit are cut; elsewhere nothing is.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  { isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  if (isTTY === true && columns !== undefined) narrow(widths, columns);
  return rows.map((row) =>
    row
      .map((cell, column) => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Takes from the widest columns until all fit. */
function narrow(widths: number[], columns: number): void {
  const total = () => widths.reduce((sum, width) => sum + width + gap, -gap);
  while (total() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= leastWidth) return;
    widths[widest] = width - 1;
  }
}

const cut = (cell: string, width: number): string =>
  cell.length <= width ? cell : `${cell.slice(0, Math.max(0, width - 1))}…`;

/** Milliseconds between two displays: on one changing line of a terminal, on lines of their own, or elsewhere. */
const showEveryMs = { terminal: 250, lines: 10_000, told: 500 };

/** How far a task is. */
type TaskProgress = ShownTask & {
  /** Rate of the last run of a task that has a step; null: not known. */
  expectedPerSecond?: number | null;
};

/** Shows how far tasks are, several at a time. */
export type Progress = {
  report: (progress: TaskProgress) => void;
  /** Ends the display of one task. */
  done: (task: string) => void;
  end: () => void;
};

type Reported = { first: TaskProgress; latest: TaskProgress; startedAt: number };

/**
 * Shows progress with rate and time left on the error output: on a terminal one changing line with a bar for each task,
 * else a line every 10 s. Whoever started the command to show it elsewhere (the supervisor) is sent the tasks.
 */
export function openProgress(
  verb: string,
  stream: Parameters<typeof openLiveLine>[0] = process.stderr,
): Progress {
  const output = openLiveLine(stream);
  const tasks = new Map<string, Reported>();
  let shown = "";
  const show = () => {
    const now = performance.now();
    const parts = [...tasks.values()].map((one) =>
      describe(one, (now - one.startedAt) / 1_000, output.isTerminal),
    );
    const line = `${verb} ${parts.join("; ")}`;
    if (parts.length === 0 || line === shown) return;
    shown = line;
    if (output.isTerminal) output.show(line);
    else output.print(`${line}\n`);
  };
  let sentAt = 0;
  const tell = () => {
    sentAt = performance.now();
    process.send?.({ tasks: [...tasks.values()].map(({ latest }) => latest) });
  };
  const timer = setInterval(show, output.isTerminal ? showEveryMs.terminal : showEveryMs.lines);
  return {
    report(progress) {
      const reported = tasks.get(progress.task);
      const isNewStep = reported === undefined || reported.latest.step !== progress.step;
      const startedAt = reported?.startedAt ?? performance.now();
      const first = isNewStep ? progress : reported.first;
      tasks.set(progress.task, { first, latest: progress, startedAt });
      if (isNewStep && output.isTerminal) show();
      if (isNewStep || performance.now() - sentAt > showEveryMs.told) tell();
    },
    done(task) {
      tasks.delete(task);
      tell();
      output.clear();
    },
    end() {
      clearInterval(timer);
      output.clear();
    },
  };
}

function describe({ first, latest }: Reported, seconds: number, hasBar: boolean): string {
  const { task, done, total, unit, step, expectedPerSecond } = latest;
  if (step !== undefined) {
    const text = `${task}: ${total ?? done} ${unit}, ${step}, ${seconds.toFixed(0)} s`;
    if (expectedPerSecond == null || total === null) return text;
    const left = timeLeft(total / expectedPerSecond - seconds);
    return `${text}, about ${left} at the last ${Math.round(expectedPerSecond)} ${unit}/s`;
  }
  const rate = (done - first.done) / seconds;
  const pace = rate > 0 ? `, ${Math.round(rate)} ${unit}/s` : "";
  if (total === null) return `${task}: ${done} ${unit}${pace}`;
  const percent = total === 0 ? 100 : Math.floor((done * 100) / total);
  const bar = hasBar ? `${barOf(percent / 100)} ` : "";
  const left = rate > 0 ? `, ${timeLeft((total - done) / rate)}` : "";
  return `${task}: ${bar}${done} of ${total} ${unit} (${percent} %)${pace}${left}`;
}

function timeLeft(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 120) return `${whole} s left`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 120 ? `${minutes} min left` : `${(minutes / 60).toFixed(1)} h left`;
}

/** Shows the derivation of projections. */
export const reportBuild =
  (progress: Progress) =>
  ({ projection, position, head, step, factsPerSecond }: BuildProgress): void =>
    progress.report({
      task: projection,
      done: Number(position),
      total: Number(head),
      unit: "facts",
      ...(step === undefined ? {} : { step, expectedPerSecond: factsPerSecond ?? null }),
    });
