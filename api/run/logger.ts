import { type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Config } from "./config/config.ts";

/** Takes one log line, as JSON. */
export type LogSink = (line: string) => void;

/** Writes log lines to stdout in the configured form; a line that is no JSON passes as it is. */
export function openLogSink({ format }: Pick<Config["log"], "format">): LogSink {
  if (format === "json") return (line) => void process.stdout.write(`${line}\n`);
  const pretty = prettyFactory({
    colorize: process.stdout.isTTY ?? false,
    ignore: "part",
    messageFormat: (line, key) => `${String(line.part ?? "")}: ${String(line[key])}`,
    singleLine: true,
    translateTime: "SYS:HH:MM:ss.l",
  });
  return (line) => void process.stdout.write(pretty(line));
}

/** A logger whose lines name the part of the service that writes them. */
export function createLogger(part: string, level: Config["log"]["level"], sink: LogSink): Logger {
  const redact = ["url", "rpcUrl", "databaseUrl", "*.url", "*.rpcUrl"];
  return pino({ level, base: { part }, redact }, { write: (line) => sink(line.trimEnd()) });
}
