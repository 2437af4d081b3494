import type { WriteStream } from "node:tty";

type Output = Pick<WriteStream, "write" | "isTTY" | "columns">;

/** Output of finished lines, with one changing line below them where it is a terminal. */
export type LiveLine = {
  readonly isTerminal: boolean;
  /** Writes finished text above the changing line. */
  print(text: string): void;
  /** Replaces the changing line. Does nothing where the output is not a terminal. */
  show(line: string): void;
  clear(): void;
};

const eraseLine = "\r\u001b[K";

export function openLiveLine(output: Output): LiveLine {
  const isTerminal = output.isTTY === true;
  let shown = "";
  const show = (line: string) => {
    if (!isTerminal || line === shown) return;
    shown = line.slice(0, Math.max(1, (output.columns || 80) - 1));
    output.write(`${eraseLine}${shown}`);
  };
  return {
    isTerminal,
    show,
    print(text) {
      output.write(shown === "" ? text : `${eraseLine}${text}${shown}`);
    },
    clear() {
      if (shown !== "") output.write(eraseLine);
      shown = "";
    },
  };
}

const width = 20;

/** A part of a whole, from 0 to 1, as a bar of a terminal. */
export function barOf(part: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * width);
  return `[${"█".repeat(filled)}${"░".repeat(width - filled)}]`;
}
