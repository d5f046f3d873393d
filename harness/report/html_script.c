#include "report/html_script.h"

#include <openssl/evp.h>
#include <string.h>

#include "report/escape.h"

/* If a table has several bodies, these are sorted, so that the rows of a point stay together. What
 * is not a number, or has no cell, comes last in either order. */
/* clang-format off */
static const char script[] =
	"'use strict';\n"
	"function key(unit,i){const cell=(unit.rows?unit.rows[0]:unit).cells[i];if(!cell)return null;\n"
	"if(cell.dataset.sort)return +cell.dataset.sort;const ns=cell.querySelector('[title$=\" ns\"]');\n"
	"if(ns)return parseFloat(ns.title);const text=cell.textContent.trim();if(!text||text==='\\u2013')return null;\n"
	"const number=parseFloat(text);return cell.className==='n'||String(number)===text?number:text}\n"
	"function order(a,b){if(a===null||b===null)return 0;\n"
	"return typeof a==='number'&&typeof b==='number'?a-b:String(a).localeCompare(String(b),'en',{numeric:true})}\n"
	"function sort(table,head,i){const up=head.getAttribute('aria-sort')!=='ascending';\n"
	"for(const h of head.parentNode.cells)h.removeAttribute('aria-sort');\n"
	"head.setAttribute('aria-sort',up?'ascending':'descending');\n"
	"const many=table.tBodies.length>1,units=[...(many?table.tBodies:table.tBodies[0].rows)];\n"
	"const keyed=units.map(u=>[key(u,i),u]);\n"
	"keyed.sort((a,b)=>(a[0]===null)-(b[0]===null)||(up?1:-1)*order(a[0],b[0]));\n"
	"const into=many?table:table.tBodies[0];for(const[,u]of keyed)into.append(u)}\n"
	"for(const table of document.querySelectorAll('table'))if(table.tHead&&table.tBodies.length)\n"
	"for(const head of table.tHead.rows[0].cells){\n"
	"if(!head.textContent.trim()||head.classList.contains('plain'))continue;\n"
	"const button=document.createElement('button');button.type='button';button.append(...head.childNodes);\n"
	"head.append(button);button.addEventListener('click',()=>sort(table,head,head.cellIndex))}\n"
	"function unfold(){const at=location.hash&&document.getElementById(location.hash.slice(1));\n"
	"for(let e=at;e;e=e.parentElement)if(e.tagName==='DETAILS')e.open=true;if(at)at.scrollIntoView()}\n"
	"addEventListener('hashchange',unfold);unfold();\n";
/* clang-format on */

void html_script_write(FILE *out)
{
	fprintf(out, "<script>%s</script>\n", script);
}

void html_script_hash(FILE *out)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int size = 0;

	EVP_Digest(script, strlen(script), digest, &size, EVP_sha256(), NULL);
	fprintf(out, "'sha256-");
	escape_base64(out, digest, size);
	fprintf(out, "'");
}
