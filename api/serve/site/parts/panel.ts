import { type Html, html } from "#api/serve/html/html.ts";

type Panel = {
  readonly id: string;
  readonly title: string | Html;
  readonly body: Html | readonly Html[];
  /** Beside the title. */
  readonly aside?: Html | false | undefined;
  readonly about?: string | Html;
};

/** A titled part of a page. */
export function panel({ id, title, body, aside, about }: Panel): Html {
  return html`<section class="panel" aria-labelledby="${id}">
<div class="panel-head"><h2 id="${id}">${title}</h2>${aside}</div>
${about !== undefined && html`<p class="about">${about}</p>`}
${body}
</section>`;
}

type Figure = {
  readonly label: string;
  readonly value: Html | string;
  readonly note?: Html | false;
};

/** Figures of a head, each with its name. */
export function figures(all: readonly Figure[]): Html {
  return html`<dl class="figures">${all.map(
    ({ label, value, note }) =>
      html`<div><dt>${label}</dt><dd>${value}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`,
  )}</dl>`;
}

/** Names and values of a row's details. */
export function details(
  all: readonly (readonly [name: string, value: Html | string] | false)[],
): Html {
  const shown = all.filter((one) => one !== false);
  return html`<dl class="details">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

type Tab = { readonly href: string; readonly text: string; readonly isCurrent: boolean };

/** Links between the views of one subject. */
export function tabs(label: string, all: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}">${all.map(
    ({ href, text, isCurrent }) =>
      html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>`,
  )}</nav>`;
}

/** The way to the next rows. */
export function nextPage(href: string | null): Html | false {
  return (
    href !== null &&
    html`<p class="next"><a class="button" href="${href}" rel="next">Next page</a></p>`
  );
}
