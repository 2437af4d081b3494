import { type LogFn, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { DatabaseUnavailable, statementFailure } from "#projections/log/database-failure.ts";
import type { Config } from "../config/config.ts";
import { type LiveLine, openLiveLine } from "./live-line.ts";
import { terminalLines, terminalText } from "./terminal-text.ts";

/** Takes one log line, as JSON. */
export type LogSink = (line: string) => void;

/** Writes log lines to stdout in the configured format; a line that is not JSON is written unchanged. */
export function openLogSink(
  { format }: Pick<Config["log"], "format">,
  output: LiveLine = openLiveLine(process.stdout),
): LogSink {
  if (format === "json") return (line) => output.print(`${line}\n`);
  const pretty = openPrettyFormat(output.isTerminal);
  return (line) => output.print(pretty(line));
}

/** A logger whose lines name the part of the service that writes them. */
export function createLogger(part: string, level: Config["log"]["level"], sink: LogSink): Logger {
  const redact = ["url", "rpcUrl", "databaseUrl", "*.url", "*.rpcUrl"];
  const hooks = { logMethod: openOutageLines() };
  return pino({ level, base: { part }, redact, hooks }, { write: (line) => sink(line.trimEnd()) });
}

type LogObject = Record<string, unknown>;

/** Written by the formatter itself, or meaningless to a person. */
const hidden = new Set(["level", "time", "part", "msg", "pid", "hostname", "err"]);

/** Formats one JSON log line as `time LEVEL part: message key=value`; other text is returned as it is shown. */
export function openPrettyFormat(hasColors: boolean): (line: string) => string {
  const format = openFormat(hasColors);
  return (line) => {
    const text = format(line);
    return text.trimEnd() === line.trimEnd() ? terminalLines(text) : text;
  };
}

function openFormat(hasColors: boolean): (line: string) => string {
  return prettyFactory({
    colorize: hasColors,
    hideObject: true,
    messageFormat: (line, messageKey) =>
      [
        terminalText(`${line.part ?? "log"}: ${line[messageKey] ?? ""}`),
        ...fieldsOf(line),
        ...errorOf(line),
      ].join(" "),
    translateTime: "SYS:HH:MM:ss.l",
  });
}

const fieldsOf = (line: LogObject): string[] =>
  Object.entries(line)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => `${terminalText(name)}=${formatValue(value)}`);

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([name, field]) => `${terminalText(name)}=${formatValue(field)}`,
    );
    return `{${fields.join(" ")}}`;
  }
  const isPlain = typeof value !== "string" || !/[\s,=]|^$/.test(value);
  return terminalText(isPlain ? `${value}` : JSON.stringify(value));
}

/** The stack, where there is one, goes to lines of its own. */
function errorOf({ err }: LogObject): string[] {
  if (typeof err !== "object" || err === null) return [];
  const { stack, message } = err as { stack?: string; message?: string };
  return stack === undefined
    ? [`error=${formatValue(message ?? err)}`]
    : [`\n    ${terminalLines(stack).replaceAll("\n", "\n    ")}`];
}

/** An outage without a new failure for so long is over. */
const overMs = 30_000;
const firstQuietMs = 10_000;
const mostQuietMs = 300_000;

/**
 * Hook of a logger. A database that cannot be used fails everything that is under way: the first failure is one
 * line with its reason instead of a stack, and while the outage lasts further lines come ever more seldom, each with the
 * number of failures that were left out.
 */
export function openOutageLines(clock = () => performance.now()) {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let quietMs = firstQuietMs;
  let omitted = 0;
  return function logMethod(this: unknown, args: Parameters<LogFn>, method: LogFn): void {
    const [fields, ...rest] = args as unknown[];
    const reason = outageIn(fields);
    if (reason === undefined) {
      method.apply(this as never, args);
      return;
    }
    const now = clock();
    const isNew = now - failedAt > overMs;
    failedAt = now;
    if (!isNew && now - writtenAt < quietMs) {
      omitted += 1;
      return;
    }
    quietMs = isNew ? firstQuietMs : Math.min(2 * quietMs, mostQuietMs);
    const others = isNew || omitted === 0 ? {} : { failures: omitted };
    [writtenAt, omitted] = [now, 0];
    const { err: _, ...about } = fields as { err: unknown };
    method.apply(this as never, [{ ...about, reason, ...others }, ...rest] as never);
  };
}

/** Why the database cannot be used, where that is what a line tells. */
function outageIn(fields: unknown): string | undefined {
  if (typeof fields !== "object" || fields === null || !("err" in fields)) return undefined;
  const { err } = fields;
  // Other things than statements fail by the system's codes, too.
  const isOfSystem = err instanceof Error && "syscall" in err;
  const failure = isOfSystem ? err : statementFailure(err);
  return failure instanceof DatabaseUnavailable ? failure.message : undefined;
}
