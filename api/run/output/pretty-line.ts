import { prettyFactory } from "pino-pretty";

type LogObject = Record<string, unknown>;

/** Written by the formatter itself, or meaningless to a person. */
const hidden = new Set(["level", "time", "part", "msg", "pid", "hostname", "err"]);

/** Formats one JSON log line as `time LEVEL part: message key=value`; text that is not JSON is returned unchanged. */
export function openPrettyFormat(hasColors: boolean): (line: string) => string {
  return prettyFactory({
    colorize: hasColors,
    hideObject: true,
    messageFormat: (line, messageKey) =>
      [
        `${line.part ?? "log"}: ${line[messageKey] ?? ""}`,
        ...fieldsOf(line),
        ...errorOf(line),
      ].join(" "),
    translateTime: "SYS:HH:MM:ss.l",
  });
}

const fieldsOf = (line: LogObject): string[] =>
  Object.entries(line)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => `${name}=${formatValue(value)}`);

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${name}=${formatValue(field)}`);
    return `{${fields.join(" ")}}`;
  }
  return typeof value === "string" && /[\s,=]|^$/.test(value) ? JSON.stringify(value) : `${value}`;
}

/** The stack, where there is one, goes to lines of its own. */
function errorOf({ err }: LogObject): string[] {
  if (typeof err !== "object" || err === null) return [];
  const { stack, message } = err as { stack?: string; message?: string };
  return stack === undefined
    ? [`error=${formatValue(message ?? err)}`]
    : [`\n    ${stack.replaceAll("\n", "\n    ")}`];
}
