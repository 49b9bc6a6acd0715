/**
 * Finds named functions and constants in the sources, and wraps them while vitest loads their modules: no file is edited.
 * A place is a name within a file or folder of src, so that code around it may change and files may move.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAst } from 'vitest/node';

/**
 * Where `name` is defined below `folder`: as a function or constant or, if there is none, as a property. Throws an error that
 * says what to fix unless there is exactly one.
 */
export function placeOf([folder, name]) {
  const places = filesIn(folder).flatMap((file) => {
    const code = readFileSync(file, 'utf8');
    const found = code.includes(name) ? definitions(code, name) : [];
    return found.map((definition) => ({ file: resolve(file), ...definition }));
  });
  const declared = places.filter(({ isProperty }) => !isProperty);
  const [place, ...others] = declared.length > 0 ? declared : places;
  if (!place || others.length > 0) {
    throw new Error(`expected one definition of ${name} in ${folder}, found ${others.length + (place ? 1 : 0)}`);
  }
  return place;
}

function filesIn(path) {
  if (!statSync(path, { throwIfNoEntry: false })) throw new Error(`${path} does not exist`);
  if (statSync(path).isFile()) return [path];
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => join(path, file));
}

/** The code with the edits made. */
export function edited(code, edits) {
  const ordered = edits.toSorted((a, b) => b.at - a.at);
  return ordered.reduce((text, { at, insert }) => text.slice(0, at) + insert + text.slice(at), code);
}

/** For each definition of the name, the insertions that wrap it. */
function definitions(code, name) {
  // Without `plantedFault`, as outside of test files, nothing changes.
  const wrap = `(globalThis.plantedFault ?? ((_, original) => original))(${JSON.stringify(name)}, `;
  const around = ({ start, end }, opening = wrap, closing = ')') => [
    { at: start, insert: opening },
    { at: end, insert: closing },
  ];
  const found = [];
  const add = (edits, isProperty = false) => found.push({ edits, isProperty });
  walk(parseAst(code, { lang: 'ts' }), undefined, (node, parent, block) => {
    if (node.type === 'VariableDeclarator' && node.id.name === name && node.init) add(around(node.init));
    // A declared function is there from the start of its block.
    if (node.type === 'FunctionDeclaration' && node.id?.name === name) {
      add([{ at: block.body[0].start, insert: `${name} = ${wrap}${name});\n` }]);
    }
    if (node.type !== 'Property' || parent.type !== 'ObjectExpression' || node.shorthand) return;
    if (node.computed || node.key.name !== name) return;
    add(node.method ? around(node, `${name}: ${wrap}({ `, ` }).${name})`) : around(node.value), true);
  });
  return found;
}

/** Visits each node with its parent and the block or program that it is in. */
function walk(node, parent, visit, block = node) {
  visit(node, parent, block);
  const inner = node.type === 'BlockStatement' || node.type === 'Program' ? node : block;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (child?.type) walk(child, node, visit, inner);
  }
}
