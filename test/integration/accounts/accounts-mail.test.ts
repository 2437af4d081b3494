import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openMailer, resetMail, welcomeMail } from "#api/accounts/mail.ts";

type Received = { from: string; to: string; lines: string[] };

const received: Received[] = [];
let server: Server;
let url: string;

/** As much of a mail server as a sender meets. */
beforeAll(async () => {
  server = createServer((socket) => {
    let mail: Received = { from: "", to: "", lines: [] };
    let isText = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const replies: Record<string, (line: string) => void> = {
      MAIL: (line) => {
        mail = { from: line, to: "", lines: [] };
        say("250 fine");
      },
      RCPT: (line) => {
        mail.to += line;
        say("250 fine");
      },
      DATA: () => {
        isText = true;
        say("354 go on");
      },
    };
    const take = (line: string) => {
      if (!isText) {
        const reply = replies[line.slice(0, 4).toUpperCase()];
        if (reply === undefined) say("250 fine");
        else reply(line);
      } else if (line === ".") {
        isText = false;
        received.push(mail);
        say("250 taken");
      } else {
        mail.lines.push(line);
      }
    };
    createInterface({ input: socket }).on("line", take);
    socket.on("error", () => {});
    say("220 mail.example.test");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server?.close());

const isLoopback = false;
const link = "mk_link_0000";
const baseUrl = "https://api.example.test";

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { lines, logger: pino({ level: "info" }, { write }) };
}

/** Quoted-printable (RFC 2045 §6.7), as the sender chose for it. */
const decode = (lines: readonly string[]): string =>
  lines
    .join("\n")
    .replaceAll(/=\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

it("mail goes through the server that is set up, with its sender and the link", async () => {
  const { lines, logger } = openLog();
  const mailer = openMailer({
    smtp: { url, from: "Orders <no-reply@example.test>" },
    isLoopback,
    logger,
  });
  mailer.send(welcomeMail({ to: "new@example.test", link, baseUrl }));
  mailer.send(resetMail({ to: "known@example.test", link, baseUrl }));
  await mailer.close();

  expect(lines).toEqual([]);
  const sent = received.toSorted((one, other) => other.to.localeCompare(one.to));
  expect(sent.map(({ to }) => /<(.*)>/.exec(to)?.[1])).toEqual([
    "new@example.test",
    "known@example.test",
  ]);
  for (const { from, lines: text } of sent) {
    expect(from).toContain("<no-reply@example.test>");
    expect(decode(text)).toContain(`${baseUrl}/developers/confirm?link=${link}`);
  }
  expect(sent[0]?.lines).toContain("Subject: Confirm your e-mail address");
});

it("mail that cannot be sent is logged, and nobody waits for it", async () => {
  const { lines, logger } = openLog();
  const mailer = openMailer({
    smtp: { url: "smtp://127.0.0.1:1", from: "a@example.test" },
    isLoopback,
    logger,
  });
  mailer.send(welcomeMail({ to: "new@example.test", link, baseUrl }));
  await mailer.close();

  expect(lines).toMatchObject([{ level: 50, to: "new@example.test", msg: "mail delivery failed" }]);
  expect(JSON.stringify(lines)).not.toContain(link);
});

it("without a server on loopback the log tells the link, and of a reset that one", async () => {
  const { lines, logger } = openLog();
  const mailer = openMailer({ smtp: null, isLoopback: true, logger });
  mailer.send(resetMail({ to: "known@example.test", link, baseUrl }));

  expect(lines).toMatchObject([
    {
      level: 30,
      to: "known@example.test",
      link: `${baseUrl}/developers/confirm?link=${link}`,
      subject: "Choose a new password",
      msg: "no mail server configured, mail not sent",
    },
  ]);
});

it("without a server the log of a service that others reach tells no link", () => {
  const { lines, logger } = openLog();
  const mailer = openMailer({ smtp: null, isLoopback, logger });
  mailer.send(welcomeMail({ to: "new@example.test", link, baseUrl }));

  expect(mailer.delivery).toBe("none");
  expect(lines).toMatchObject([{ level: 50, to: "new@example.test" }]);
  expect(JSON.stringify(lines)).not.toContain(link);
});
