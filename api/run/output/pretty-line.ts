import { prettyFactory } from "pino-pretty";

type LogObject = Record<string, unknown>;

/** Written by the formatter itself, or meaningless to a person. */
const hidden = new Set(["level", "time", "part", "msg", "pid", "hostname", "err"]);

/**
 * What a terminal obeys instead of showing it, or shows in another order: control characters, whose sequences move the
 * cursor, clear the screen or set the title, and the marks of direction.
 */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const obeyedButLines = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text as a terminal only shows it, whoever wrote it. */
const shown = (text: string, characters = obeyed): string =>
  text.replace(characters, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Formats one JSON log line as `time LEVEL part: message key=value`; other text is returned as it is shown. */
export function openPrettyFormat(hasColors: boolean): (line: string) => string {
  const format = openFormat(hasColors);
  return (line) => {
    const text = format(line);
    return text.trimEnd() === line.trimEnd() ? shown(text, obeyedButLines) : text;
  };
}

function openFormat(hasColors: boolean): (line: string) => string {
  return prettyFactory({
    colorize: hasColors,
    hideObject: true,
    messageFormat: (line, messageKey) =>
      [
        shown(`${line.part ?? "log"}: ${line[messageKey] ?? ""}`),
        ...fieldsOf(line),
        ...errorOf(line),
      ].join(" "),
    translateTime: "SYS:HH:MM:ss.l",
  });
}

const fieldsOf = (line: LogObject): string[] =>
  Object.entries(line)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => `${shown(name)}=${formatValue(value)}`);

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([name, field]) => `${shown(name)}=${formatValue(field)}`,
    );
    return `{${fields.join(" ")}}`;
  }
  const isPlain = typeof value !== "string" || !/[\s,=]|^$/.test(value);
  return shown(isPlain ? `${value}` : JSON.stringify(value));
}

/** The stack, where there is one, goes to lines of its own. */
function errorOf({ err }: LogObject): string[] {
  if (typeof err !== "object" || err === null) return [];
  const { stack, message } = err as { stack?: string; message?: string };
  return stack === undefined
    ? [`error=${formatValue(message ?? err)}`]
    : [`\n    ${shown(stack, obeyedButLines).replaceAll("\n", "\n    ")}`];
}
