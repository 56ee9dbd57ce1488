// Has what others publish for their own API judge what shadow export writes: judge.js TARGET FOLDER FILES…
// FOLDER has the modules of npm. The last line is how many texts were judged.
const fs = require('node:fs');
const path = require('node:path');
const { execFileSync } = require('node:child_process');

const [target, folder, ...files] = process.argv.slice(2);
const load = (name) => require(path.join(folder, 'node_modules', name));
const texts = files.map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
const lines = (x) => x.blocks.map((b) => b.Lines.join('\n')).join('\n');

// Rules are of the types of the clients that Cloudflare and AWS publish; the compiler judges all texts at once.
function typed(all) {
  const [head, type, rules] = {
    cloudflare: ["import Cloudflare from 'cloudflare';", 'Cloudflare.Rulesets.RulesetCreateParams',
      (text) => `{ kind: 'zone', name: 'x', phase: 'http_ratelimit', zone_id: 'z', rules: ${JSON.stringify(JSON.parse(text).rules)} }`],
    'aws-waf': ["import { Rule } from '@aws-sdk/client-wafv2';", 'Rule[]',
      (text) => JSON.stringify(JSON.parse(text)).replace(/"SearchString":("(?:[^"\\]|\\.)*")/g, '"SearchString":new TextEncoder().encode($1)')],
  }[target];
  const file = path.join(folder, 'rules.ts');
  fs.writeFileSync(file, `${head}\n` + all.map((text, i) => `export const r${i}: ${type} = ${rules(text)};\n`).join(''));
  execFileSync(path.join(folder, 'node_modules/.bin/tsc'),
    ['--noEmit', '--strict', '--skipLibCheck', '--moduleResolution', 'node16', '--module', 'node16', '--target', 'es2022', file],
    { stdio: ['ignore', 'pipe', 'pipe'] });
}

// The schemas of Kong and APISIX are written from their sources: they stand beside this file.
function schema(all) {
  const Ajv = load('ajv/dist/2020').default;
  const own = JSON.parse(fs.readFileSync(path.join(__dirname, `${target}.schema.json`), 'utf8'));
  const validate = new Ajv({ allErrors: true }).compile(own);
  for (const text of all) {
    if (target === 'apisix' && !text.trimEnd().endsWith('\n#END')) throw new Error('no #END');
    if (!validate(load('yaml').parse(text))) throw new Error(`${JSON.stringify(validate.errors)}\n${text}`);
  }
}

const wrong = {
  'aws-waf': (text) => text.replace(/"AggregateKeyType": "/, '"AggregateKeyType": "MY_'),
  cloudflare: (text) => text.replace(/"period"/, '"periods"'),
  kong: (text) => text.replace('limit_by: ', 'limit_by: my'),
  apisix: (text) => text.replace(/key_type: \w+/, 'key_type: any'),
}[target];
const judge = { 'aws-waf': typed, cloudflare: typed, kong: schema, apisix: schema }[target];

let taken = true;
try {
  judge([wrong(lines(texts[0]))]);
} catch {
  taken = false;
}
if (taken) throw new Error(`${target}: what is wrong is taken`);
try {
  judge(texts.map(lines));
} catch (e) {
  throw new Error(String(e.stdout || e));
}
console.log(texts.length);
