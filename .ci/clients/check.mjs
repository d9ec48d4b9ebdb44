// Judges what the conformance suite found: check.mjs RESULTS EXPECTED [ONLY]
//
// EXPECTED names the checks that may fail, one a line: scenario, check, the
// word always or sometimes, why. One that always fails must fail. ONLY names the
// scenarios that count, one a line; without it all do.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [results, expectedFile, onlyFile] = process.argv.slice(2)
const lines = (file) => readFileSync(file, 'utf8').split('\n').filter((l) => l.trim() && !l.startsWith('#'))
const expected = new Map(lines(expectedFile).map((l) => {
  const [scenario, check, how, ...why] = l.split(/\s+/)
  return [`${scenario} ${check}`, { how, why: why.join(' '), failed: false }]
}))
const only = onlyFile && lines(onlyFile)
const seen = new Set()
let passed = 0, excused = 0, wrong = 0
const complain = (text) => { wrong++; console.log(`FAIL  ${text}`) }

for (const dir of readdirSync(results).sort()) {
  const scenario = dir.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
  if (only && !only.includes(scenario)) continue
  seen.add(scenario)
  for (const c of JSON.parse(readFileSync(join(results, dir, 'checks.json'), 'utf8'))) {
    const known = expected.get(`${scenario} ${c.id}`)
    if (c.status !== 'FAILURE' && c.status !== 'WARNING') {
      if (c.status === 'SUCCESS') passed++
    } else if (known) {
      known.failed = true
      excused++
    } else {
      complain(`${scenario} ${c.id}: ${c.errorMessage ?? c.description}`)
    }
  }
}
for (const s of only ?? []) if (!seen.has(s)) complain(`${s} was not run`)
for (const [name, e] of expected) {
  if (e.how === 'always' && !e.failed && seen.has(name.split(' ')[0])) complain(`${name} passes now: take it off the list`)
}
console.log(`${seen.size} scenarios, ${passed} checks passed, ${excused} failed as known, ${wrong} wrong`)
process.exit(wrong || !passed ? 1 : 0)
