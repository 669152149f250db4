// Edges as the official parsers see them. stdin: {"modules": folder, "mermaid": [text], "plantuml": [text]}; stdout: the same shape
// with, for each text, {"type", "edges": [[from, to]]} or {"error"}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const input = JSON.parse(readFileSync(0, 'utf8'));
const require = createRequire(pathToFileURL(join(input.modules, 'x.js')));

async function mermaidEdges(texts) {
  const { JSDOM } = require('jsdom');
  const dom = new JSDOM('<!DOCTYPE html><body></body>');
  globalThis.window = dom.window;
  globalThis.document = dom.window.document;
  globalThis.Option = dom.window.Option;
  const mermaid = (await import(pathToFileURL(join(input.modules, 'node_modules/mermaid/dist/mermaid.core.mjs')))).default;
  mermaid.initialize({ startOnLoad: false });
  const found = [];
  for (const text of texts) {
    try {
      await mermaid.parse(text);
      const diagram = await mermaid.mermaidAPI.getDiagramFromText(text);
      const type = diagram.type;
      if (type.startsWith('flowchart')) {
        const edges = diagram.db.getEdges().filter((e) => e.stroke !== 'invisible');
        found.push({ type: 'flowchart', edges: edges.flatMap((e) => (e.type.startsWith('double') ? [[e.start, e.end], [e.end, e.start]] : [[e.start, e.end]])) });
      } else if (type === 'sequence') {
        const messages = diagram.db.getMessages().filter((m) => m.from && m.to && typeof m.to === 'string' && m.message !== undefined && m.placement === undefined);
        found.push({ type, edges: messages.filter((m) => m.from !== m.to).map((m) => [m.from, m.to]),
          dotted: messages.filter((m) => [1, 4, 6, 25, 34].includes(m.type)).map((m) => [m.from, m.to]) });
      } else {
        found.push({ type, edges: [] });
      }
    } catch (fault) {
      found.push({ error: String(fault).split('\n')[0] });
    }
  }
  return found;
}

function plantumlEdges(texts) {
  const { parse } = require('plantuml-parser');
  return texts.map((text) => {
    try {
      const edges = [];
      const walk = (node) => {
        if (Array.isArray(node)) return node.forEach(walk);
        if (!node || typeof node !== 'object') return undefined;
        if ('leftArrowHead' in node && !node.hidden) {
          const back = node.leftArrowHead.includes('<');
          const forth = node.rightArrowHead.includes('>');
          if (forth || !back) edges.push([node.left, node.right]);
          if (back) edges.push([node.right, node.left]);
        } else if ('from' in node && 'to' in node && node.type_ && /Rel/.test(node.type_.name)) {
          const name = node.type_.name;
          edges.push(/Back/.test(name) ? [node.to, node.from] : [node.from, node.to]);
          if (/^Bi/.test(name)) edges.push([node.to, node.from]);
        }
        return Object.values(node).forEach(walk);
      };
      walk(parse(text));
      return { type: 'plantuml', edges };
    } catch (fault) {
      return { error: String(fault).split('\n')[0] };
    }
  });
}

console.log(JSON.stringify({ mermaid: await mermaidEdges(input.mermaid), plantuml: plantumlEdges(input.plantuml) }));
