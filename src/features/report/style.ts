/** The style of a report: one accent colour, light and dark, phones, paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfbf9; --card: #ffffff; --ink: #16202a; --soft: #55626f; --line: #dfe3e6; --grid: #e9ecee;
  --accent: #0b6a75; --band: #b5dade; --wash: #e8f3f4; --alarm: #a8321f; --alarm-wash: #fbece8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11171c; --card: #182027; --ink: #e7edf1; --soft: #9fadb8; --line: #2b3741; --grid: #232e37;
    --accent: #55bfc9; --band: #23535a; --wash: #17292d; --alarm: #ff9b87; --alarm-wash: #351f1b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 3rem 2rem 4rem; }
h1, h2, h3, p, dl, dd, figure, ul, ol { margin: 0; padding: 0; }
h1 { font-size: 2.1rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; margin-bottom: 1rem; }
h3 { font-size: 1rem; font-weight: 650; }
.eyebrow { color: var(--soft); font-size: 0.875rem; margin-bottom: 0.75rem; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: center; }
.state { color: var(--accent); border: 1px solid currentColor; border-radius: 1rem; padding: 0 0.7rem; font-weight: 600; }
.state.bad { color: var(--alarm); }
.lead { color: var(--soft); margin-top: 0.9rem; max-width: 46rem; overflow-wrap: anywhere; }
section { margin-top: 3.25rem; }
.box { background: var(--wash); border-left: 4px solid var(--accent); border-radius: 0 0.5rem 0.5rem 0; padding: 1.25rem 1.5rem; margin-top: 2rem; }
.box.bad { background: var(--alarm-wash); border-color: var(--alarm); }
.box h2 { font-size: 1.05rem; margin-bottom: 0.5rem; }
.box p + p, .box p + ol, .box p + ul, .box ol + p, .box ul + p { margin-top: 0.75rem; }
.box ol, .box ul { padding-left: 1.3rem; }
.box li + li { margin-top: 0.35rem; }
.box p, .box li { overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: 0.5rem; overflow: hidden; margin-top: 2rem; }
.figures > div { background: var(--card); padding: 1.1rem 1.25rem; }
.figures dt { color: var(--soft); font-size: 0.875rem; }
.figures dd { font-size: 1.6rem; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; margin-top: 0.15rem; white-space: nowrap; }
.figures dd small { font-size: 0.875rem; font-weight: 400; color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td { text-align: left; vertical-align: top; padding: 0.55rem 1rem 0.55rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; font-size: 0.8125rem; padding-top: 0; vertical-align: bottom; overflow-wrap: normal; }
tbody th { font-weight: 500; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
.n + :not(.n) { padding-left: 0.75rem; }
caption { text-align: left; color: var(--soft); font-size: 0.875rem; padding-bottom: 0.75rem; }
.scroll { overflow-x: auto; }
.soft { color: var(--soft); }
.note { color: var(--soft); font-size: 0.875rem; margin-top: 0.75rem; overflow-wrap: anywhere; }
td .note { margin-top: 0.2rem; }
.wide td, .wide th { min-width: 6.5rem; }
.wide .n { min-width: 0; }
.wide .place { min-width: 13rem; }
code { font: 0.9em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; background: color-mix(in srgb, var(--ink) 7%, transparent); border-radius: 0.25rem; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
figure { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 1.25rem 1.5rem 1rem; }
figure + figure { margin-top: 1.25rem; }
figcaption p { color: var(--soft); font-size: 0.9375rem; margin-top: 0.15rem; }
.chart { display: grid; grid-template-columns: 4rem 1fr; margin-top: 1.1rem; font-size: 0.75rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.ys { position: relative; }
.ys span { position: absolute; right: 0.6rem; transform: translateY(-50%); white-space: nowrap; }
.plot { position: relative; height: 9.5rem; }
.plot.low { height: 4.5rem; }
.plot svg { display: block; width: 100%; height: 100%; overflow: hidden; }
.xs { grid-column: 2; position: relative; height: 1.5rem; margin-top: 0.4rem; }
.xs span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.xs .start { transform: none; }
.xs .end { transform: translateX(-100%); }
.grid { stroke: var(--grid); }
.base { stroke: var(--line); }
.area { fill: var(--accent); }
.band { fill: var(--band); }
.stroke { fill: none; stroke: var(--accent); }
.alarm { fill: var(--alarm); }
.mark { stroke: var(--soft); stroke-dasharray: 3 3; }
.grid, .base, .stroke, .mark { vector-effect: non-scaling-stroke; stroke-width: 1; }
.stroke { stroke-width: 2; stroke-linejoin: round; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.8125rem; color: var(--soft); margin-top: 0.6rem; }
.legend i { display: inline-block; width: 0.8rem; height: 0.8rem; border-radius: 2px; margin-right: 0.4rem; vertical-align: -0.08rem; }
.legend .is-area { background: var(--accent); }
.legend .is-band { background: var(--band); }
.legend .is-line { height: 2px; background: var(--accent); vertical-align: 0.25rem; }
.legend .is-alarm { background: var(--alarm); }
.legend .is-mark { width: 0; height: 0.9rem; border-left: 1px dashed var(--soft); border-radius: 0; }
time { white-space: nowrap; }
details { margin-top: 0.75rem; font-size: 0.9375rem; }
summary { cursor: pointer; color: var(--accent); font-size: 0.875rem; padding: 0.25rem 0; }
summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 0.25rem; }
details table { margin-top: 0.75rem; font-size: 0.8125rem; }
.bar { display: flex; height: 0.7rem; border-radius: 0.35rem; overflow: hidden; background: var(--grid); margin-bottom: 1.25rem; }
.bar .good { background: var(--accent); }
.bar .even { background: var(--band); }
.bar .bad { background: var(--alarm); }
.facts { display: grid; grid-template-columns: 9rem 1fr; gap: 0.5rem 1.75rem; font-size: 0.9375rem; }
.facts dt { color: var(--soft); }
.facts dd { overflow-wrap: anywhere; }
footer { margin-top: 4rem; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem; }
@media (max-width: 44rem) {
  main { padding: 1.75rem 1.1rem 3rem; }
  h1 { font-size: 1.55rem; }
  section { margin-top: 2.5rem; }
  .figures { grid-template-columns: repeat(2, 1fr); }
  .figures > div { padding: 0.8rem 0.9rem; }
  .figures dd { font-size: 1.25rem; }
  figure { padding: 1rem 0.9rem 0.75rem; }
  .chart { grid-template-columns: 3.1rem 1fr; }
  .xs .odd { display: none; }
  .box { padding: 1rem 1.1rem; }
  .facts { grid-template-columns: 1fr; gap: 0.1rem; }
  .facts dd { margin-bottom: 0.7rem; }
  .wide thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .wide tr { display: block; padding: 0.7rem 0; border-top: 1px solid var(--line); }
  .wide td, .wide th, .wide .place { min-width: 0; }
  .wide td, .wide th { display: block; border: 0; padding: 0.1rem 0; }
  .wide td:empty { display: none; }
  .wide .n { display: flex; justify-content: space-between; padding: 0.1rem 0; }
  .wide .n + :not(.n) { padding-left: 0; }
  .wide td::before { content: attr(data-label); color: var(--soft); font-size: 0.8125rem; display: block; }
  .wide .n::before { font-size: inherit; }
  .wide tbody th { font-weight: 650; }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --grid: #ddd;
    --accent: #0b6a75; --band: #b5dade; --wash: #fff; --alarm: #a8321f; --alarm-wash: #fff;
  }
  @page { margin: 15mm; }
  body { font-size: 10.5pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  section { margin-top: 2rem; }
  .box { border: 1px solid var(--line); border-left: 4px solid var(--accent); }
  .box.bad { border-left-color: var(--alarm); }
  h2, h3, figcaption { break-after: avoid; }
  figure, .box, .figures, tr { break-inside: avoid; }
  details:not([open]) { display: none; }
}
`
