// Runs the SQL statements of a JSON array, read from stdin, one after the other in the
// current folder, and prints their rows as JSON. $DUCKDB is the folder of @duckdb/node-api.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { DuckDBInstance } = createRequire(import.meta.url)(process.env.DUCKDB)
const db = await DuckDBInstance.create(':memory:', { threads: '1', autoinstall_known_extensions: 'false' })
const connection = await db.connect()

const answers = []
for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    answers.push((await connection.runAndReadAll(text)).getRowsJson())
  } catch (err) {
    console.error(`${text}\n${err.message}`)
    process.exit(1)
  }
}
console.log(JSON.stringify(answers))
