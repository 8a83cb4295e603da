import { createHash } from "node:crypto";
import type { Context } from "koa";

/**
 * The style sheet of all pages: the system's font, light and dark colours, from a width of 320 pixels. At its end the documentation: three columns
 * on wide screens, else one; highlighted code in the colours of text.
 */
const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1f2328; --faint: #57606a; --line: #d0d7de; --code: #f2f4f6; --link: #0550ae; --mark: #fff3c4;
  --wrong: #b42318; --warn: #8a5300; --good: #1a6b34;
  --c1: #2f6fb5; --c2: #2f855a; --c3: #b7791f; --c4: #9b4dca; --c5: #c2416a; --c6: #4a5568; --c7: #0f8a8a; --c8: #8a5a3c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --text: #e6e8eb; --faint: #a8b1bb; --line: #3a424c; --code: #1d232b; --link: #7db8ff; --mark: #4a3d10;
    --wrong: #ff8a7a; --warn: #f0b35a; --good: #6fd08c;
    --c1: #6ea8e8; --c2: #68c08f; --c3: #e0ac4e; --c4: #c594ea; --c5: #ee8cab; --c6: #a0aec0; --c7: #5cc8c8; --c8: #c99a7c;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; }
h2 { margin: 2rem 0 .75rem; font-size: 1.15rem; }
h3 { margin: 1.25rem 0 .5rem; font-size: 1rem; }
a { color: var(--link); }
a:focus-visible, input:focus-visible, select:focus-visible, button:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
pre { padding: .75rem; overflow-x: auto; }
pre code { padding: 0; font-size: 1em; }
:target { background: var(--mark); }

.skip { position: absolute; left: -999rem; }
.skip:focus { left: .5rem; top: .5rem; padding: .5rem; background: var(--page); z-index: 1; }
.top { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding: .6rem 1rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.brand { color: inherit; font-weight: 700; text-decoration: none; }
.top nav ul, .side ul { display: flex; gap: .25rem 1rem; margin: 0; padding: 0; list-style: none; flex-wrap: wrap; }
.top .account { margin-left: auto; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; color: var(--faint); font-size: .875rem; }
.top form { margin: 0; }
[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
.live { color: var(--wrong); font-weight: 700; }
.columns { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: 2rem; max-width: 84rem; margin: 0 auto; padding: 1.25rem 1rem 5rem; }
.side ul { flex-direction: column; }
@media (max-width: 48rem) {
  .columns { grid-template-columns: minmax(0, 1fr); gap: 1rem; }
  .side ul { flex-direction: row; }
}
.narrow { max-width: 26rem; margin: 0 auto; padding: 1.5rem 1rem 5rem; }

label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input, select, button { min-height: 2.5rem; padding: .4rem .7rem; border: 1px solid var(--faint); border-radius: 6px; background: var(--page); color: inherit;
  font: inherit; max-width: 100%; }
button { border-color: var(--link); background: var(--link); color: var(--page); font-weight: 600; cursor: pointer; }
button.second, button.plain { background: none; color: var(--link); }
button.plain { min-height: 0; padding: 0; border: 0; font-weight: inherit; text-decoration: underline; }
.secret { width: 100%; max-width: 46rem; font-family: ui-monospace, monospace; }
[readonly] { border-color: var(--line); background: var(--code); }
[aria-invalid] { border-color: var(--wrong); border-width: 2px; }
.narrow input, .narrow button { width: 100%; min-height: 2.75rem; }
.narrow button { margin-top: 1.25rem; }
.narrow form + form, .narrow form + .hint { margin-top: 1rem; }
.narrow .hint + form { margin-top: 1rem; }
.hint { margin: .25rem 0 0; color: var(--faint); font-size: .875rem; }
.code { font-family: ui-monospace, monospace; letter-spacing: .1em; text-transform: uppercase; }
.error { margin: 1rem 0; padding: .75rem; border: 1px solid var(--wrong); border-left-width: 4px; border-radius: 6px; }
.error > p, .error > ul { margin: .5rem 0 0; }
.note { margin: 1rem 0; padding: .75rem; border: 1px solid var(--line); border-left-width: 4px; border-radius: 6px; }
.request { margin-top: 2rem; color: var(--faint); font-size: .875rem; }
.narrow p:not(.request) code { white-space: nowrap; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 0 0 1rem; }
.filters label { margin: 0; font-size: .875rem; }
.filters label > * { display: block; margin-top: .2rem; font-weight: 400; }
.filters input { width: 11rem; }
.filters .check { font-weight: 400; }
.filters .check input { display: inline; width: auto; min-height: 0; margin: 0 .25rem 0 0; }
.filters select { max-width: 13rem; }

dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
dl.facts { grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); gap: .5rem 1.5rem; }
dd.code { font-size: 1.25rem; line-height: 1.2; font-weight: 600; }
@media (max-width: 48rem) { dl.groups { grid-template-columns: 1fr; gap: 0; } dl.groups dd { margin-bottom: .75rem; } .scroll table { min-width: 44rem; } }
@media (max-width: 24rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }

/* A shadow on an edge shows that there is more to scroll; at the end the contents cover it. */
.scroll { overflow-x: auto; background:
  linear-gradient(to right, var(--page) 1rem, transparent) 0 / 2rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 1rem, transparent) 100% / 2rem 100% no-repeat local,
  linear-gradient(to right, var(--faint), transparent) 0 / .75rem 100% no-repeat,
  linear-gradient(to left, var(--faint), transparent) 100% / .75rem 100% no-repeat; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--faint); font-size: .875rem; padding-bottom: .25rem; }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--faint); font-size: .875rem; font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.id { display: inline-block; max-width: 100%; }
td a, td .id { display: inline-block; max-width: 24rem; }
td .faint, .faint { color: var(--faint); font-size: .875rem; }
time { white-space: nowrap; }
.narrow time { white-space: normal; }
.tag { display: inline-block; padding: 0 .5em; border: 1px solid var(--line); border-radius: 1em; font-size: .875rem; white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.tags { display: flex; flex-wrap: wrap; gap: .25rem; }
.critical { color: var(--wrong); font-weight: 600; }
.warning { color: var(--warn); font-weight: 600; }
.good { color: var(--good); font-weight: 600; }
td.name { min-width: 10rem; }
td.words { min-width: 14rem; }
.pages { display: flex; gap: 1rem; margin-top: 1rem; }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; min-width: 0; }
.card > :first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.big { font-size: 1.35rem; font-weight: 600; }

.why ul { list-style: none; margin: .25rem 0; padding-left: 1.1rem; }
.why > ul { padding-left: 0; }
.why summary { cursor: pointer; }
.mark { display: inline-block; width: 1.3em; font-weight: 700; }
ol.story { list-style: none; margin: 0; padding: 0; }
ol.story > li { display: grid; grid-template-columns: 10.5rem 5.5rem minmax(0, 1fr); gap: 0 .75rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
@media (max-width: 48rem) { ol.story > li { grid-template-columns: auto 1fr; } ol.story > li > :last-child { grid-column: 1 / -1; } }
ol.steps { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .4rem; }

.clock { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; }
.clock label { margin: 0; font-variant-numeric: tabular-nums; }
.clock input { width: 16rem; min-height: 0; padding: 0; }
.clock button { min-height: 0; padding: .1rem .5rem; }

figure { margin: 1rem 0; }
svg.chart { width: 100%; height: auto; display: block; }
.chart text { fill: var(--faint); font: 12px system-ui, sans-serif; }
.chart .axis { stroke: var(--line); }
.chart .curve { fill: none; stroke: var(--c1); stroke-width: 2; }
.chart .s2 { stroke: var(--c5); } .chart .s3 { stroke: var(--c2); }
.chart .chance { fill: none; stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 4 4; }
.chart .between { fill: var(--c1); opacity: .2; }
svg.spark { width: 8.75rem; }
.share { white-space: nowrap; font-variant-numeric: tabular-nums; }
.share svg.spark { display: inline; vertical-align: middle; margin-right: .5rem; }
.chart .dot { fill: var(--c1); }
.chart .node { fill: var(--code); stroke: var(--line); }
.chart .edge { fill: none; stroke: var(--faint); }
.chart .unused .edge { stroke: var(--line); stroke-dasharray: 4 4; }
.chart .head { fill: var(--faint); }
.chart .halo { stroke: var(--page); stroke-width: 5px; paint-order: stroke; }
.chart a text { fill: var(--link); }
.chart a:hover text { text-decoration: underline; }
.diagram text { font-size: 12px; }
@media (max-width: 48rem) { svg.chart { overflow: visible; } .chart:not(.diagram) text { font-size: 17px; } }
.scroll > .chart { min-width: 36rem; }
.scroll > .diagram { width: auto; min-width: 0; max-width: none; margin: 0 auto; }
.chart .strong { fill: var(--text); font-weight: 600; }
.chart .c1 { fill: var(--c1); } .chart .c2 { fill: var(--c2); } .chart .c3 { fill: var(--c3); } .chart .c4 { fill: var(--c4); }
.chart .c5 { fill: var(--c5); } .chart .c6 { fill: var(--c6); } .chart .c7 { fill: var(--c7); } .chart .c8 { fill: var(--c8); }
.chart .hatching { fill: var(--page); }
.bar { width: 100%; min-width: 6rem; height: .9rem; display: block; }
.bar rect { fill: var(--c1); }
.bar .rest { fill: var(--code); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0; padding: 0; list-style: none; font-size: .875rem; }
.legend svg { display: inline; width: .9em; height: .9em; vertical-align: -.1em; margin-right: .35em; }

.columns.docs { grid-template-columns: 13rem minmax(0, 46rem) 13rem; gap: 0 2rem; }
.docs .side, .docs .contents { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; align-self: start; padding: .25rem; font-size: .875rem; }
.docs .contents { grid-area: 1 / 3; }
.docs main { grid-area: 1 / 2; }
.docs .side ul, .docs .contents ul { display: flex; flex-flow: column nowrap; gap: .3rem; margin: .5rem 0 1rem; padding: 0; list-style: none; }
.docs .side label { margin-top: 0; }
.docs .side input { width: 100%; }
.docs .side form { margin-bottom: 1rem; }
.docs .side button { margin-top: .5rem; }
.docs summary { padding: .25rem 0; font-weight: 600; cursor: pointer; }
.docs summary .hint { display: block; font-weight: 400; }
.docs main h2 { padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
.docs main h3 { margin-top: 2.25rem; }
.docs main li + li { margin-top: .25rem; }
.docs main th { white-space: normal; }
.docs main td, .docs main th { overflow-wrap: normal; }
.docs .found p { margin: 0 0 1rem; color: var(--faint); overflow-wrap: anywhere; }
mark { background: var(--mark); color: var(--text); }
@media (max-width: 75rem) {
  .columns.docs { grid-template: auto 1fr / 13rem minmax(0, 1fr); }
  .docs .side { grid-row: 1 / span 2; }
  .docs .contents { grid-area: 1 / 2; position: static; }
  .docs .contents ul { flex-direction: row; gap: 1rem; overflow-x: auto; white-space: nowrap; }
  .docs main { grid-area: 2 / 2; }
}
@media (max-width: 48rem) {
  .columns.docs { grid-template: none / minmax(0, 1fr); }
  .docs .side, .docs .contents, .docs main { grid-area: auto; position: static; max-height: none; }
  .docs .side form { display: grid; grid-template-columns: 1fr auto; column-gap: .5rem; }
  .docs .side label { grid-column: 1 / 3; }
  .docs .side { padding-bottom: 1rem; }
  .docs .side button { margin-top: 0; }
  .docs .side ul { flex-direction: row; gap: 1rem; overflow-x: auto; white-space: nowrap; }
  .docs summary .hint { display: inline; }
}

.hljs-comment, .hljs-meta { color: var(--faint); }
.hljs-keyword, .hljs-built_in, .hljs-attr, .hljs-attribute, .hljs-section { color: var(--link); }
.hljs-string, .hljs-regexp { color: var(--good); }
.hljs-number, .hljs-literal, .hljs-variable, .hljs-type, .hljs-symbol { color: var(--warn); }
.hljs-title { font-weight: 600; }
@media print {
  .top, .side, .skip, .filters, .pages, form { display: none; }
  .columns { display: block; }
  .scroll { overflow: visible; background: none; }
  table { font-size: .7rem; }
  time { white-space: normal; }
}
`;

/** GET console/style.css: the address changes with the contents, so browsers may cache each version for ever. */
export function answerStyle(ctx: Context): void {
  ctx.set("Cache-Control", "public, max-age=31536000, immutable");
  ctx.type = "css";
  ctx.body = STYLE;
}

/** Part of the address. */
export const STYLE_VERSION = createHash("sha256").update(STYLE).digest("hex").slice(0, 12);
