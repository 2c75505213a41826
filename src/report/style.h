// The style sheet of report.html: light and dark, readable on a phone and on paper.
#pragma once

#include <string_view>

namespace trivet::html {

inline constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2430;--soft:#5b6675;--line:#dfe3e9;
--accent:#2563b8;--accent-soft:#9dbce4;--mark:#c2410c;--ok:#17733c;--ok-bg:#e2f4e8;--bad:#b3261e;--bad-bg:#fde8e6}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1a2029;--ink:#e6eaf0;--soft:#98a3b3;
--line:#2d3642;--accent:#6ea8f2;--accent-soft:#3d649a;--mark:#f59e5b;--ok:#6fdc97;--ok-bg:#143321;
--bad:#ff9c94;--bad-bg:#3d1a18}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",
Roboto,"Liberation Sans",sans-serif}
main{max-width:980px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:26px;line-height:1.2;margin:0;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 12px}
h3{font-size:14px;margin:18px 0 8px;color:var(--soft);font-weight:600}
p{margin:0 0 10px}
header{display:flex;flex-wrap:wrap;align-items:center;gap:6px 14px;margin-bottom:18px}
header p{flex-basis:100%;margin:0}
.soft,.note{color:var(--soft)}
.note{font-size:13px;margin:10px 0 0}
.badge{font-size:13px;font-weight:700;letter-spacing:.04em;padding:2px 10px;border-radius:99px}
.ok{color:var(--ok);background:var(--ok-bg)}
.bad{color:var(--bad);background:var(--bad-bg)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(135px,1fr));gap:10px;margin-bottom:16px}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:12px 14px}
.tile b{display:block;font-size:22px;line-height:1.25;font-variant-numeric:tabular-nums;white-space:nowrap}
.tile b small{font-size:13px;font-weight:500;color:var(--soft)}
.tile span{font-size:12.5px;color:var(--soft)}
section{padding:18px 20px;margin-bottom:16px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th{font-size:12px;font-weight:600;color:var(--soft);text-align:left;white-space:nowrap}
th,td{padding:6px 10px;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.strong td{font-weight:650}
td small{color:var(--soft);font-weight:400}
code{font:12.5px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(340px,1fr));gap:8px 28px}
svg{display:block;width:100%;height:auto}
svg .bar{fill:var(--accent)}
svg .trace{fill:none;stroke:var(--accent);stroke-width:1.3;stroke-linejoin:round}
svg .axis{stroke:var(--soft);stroke-width:1}
svg .grid{stroke:var(--line);stroke-width:1}
svg .mark{stroke:var(--mark);stroke-width:1.2;stroke-dasharray:4 3}
svg text{font:11px system-ui,"Liberation Sans",sans-serif;fill:var(--soft)}
svg .label{fill:var(--mark);font-weight:600;paint-order:stroke;stroke:var(--card);stroke-width:3px}
.shots{display:grid;grid-template-columns:repeat(auto-fill,minmax(175px,1fr));gap:16px}
figure{margin:0}
figure img{display:block;width:100%;aspect-ratio:1;object-fit:cover;border-radius:8px;background:var(--line)}
figcaption{font-size:13px;margin-top:6px}
figcaption ol{list-style:none;margin:4px 0 0;padding:0}
figcaption li{display:grid;grid-template-columns:1fr auto;gap:8px;position:relative;padding:1px 6px;margin-bottom:2px}
figcaption li i{position:absolute;inset:0 auto 0 0;background:var(--accent-soft);opacity:.45;border-radius:4px}
figcaption li span{position:relative;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
dl{display:grid;grid-template-columns:minmax(120px,max-content) 1fr;gap:6px 18px;margin:0;font-size:14px}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media print{body{background:#fff}section,.tile{break-inside:avoid}}
)css";

}  // namespace trivet::html
