import { type Logger, pino } from "pino";
import type { Config } from "#ops/config/config.ts";
import { type LiveLine, openLiveLine } from "./live-line.ts";
import { openOutageLines } from "./outage-lines.ts";
import { openPrettyFormat } from "./pretty-line.ts";

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
