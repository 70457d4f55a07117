/** The words by which a reply announces a step or claims a change, and a prompt asks for words alone, by language. */

/** The words of one language. Sentences are tested one by one, without quotations and code. */
export interface Language {
  /** A sentence in which the model says what it does next. */
  future: RegExp;
  /** Takes a sentence out: conditions, negations, courtesies. */
  but: RegExp;
  /** The model says that it changed something. */
  made: RegExp;
  /** Something is said to be changed, by nobody in particular: counts at the beginning of a reply alone. */
  was: RegExp;
  /** Tests are said to pass. */
  tests: RegExp;
  /** A prompt that wants words: a question without its mark, a summary, a text. */
  tells: RegExp;
  /** A question that is a request. */
  polite: RegExp;
  /** A prompt that wants a change. */
  change: RegExp;
}

const ENGLISH_VERBS =
  "read|open|look|check|search|find|list|run|execute|create|write|make|add|edit|update|fix|change|" +
  "modify|replace|rename|remove|delete|implement|refactor|inspect|examine|explore|review|start|begin|proceed|continue|" +
  "apply|test|verify|try|use|call|view|see|investigate|analy[sz]e|go ahead|take a|do (?:this|that|it|so)|correct|" +
  "install|move|copy|insert|rewrite|generate|set up|build|get|locate|scan|grep|fetch|load|figure out|determine";
const ENGLISH_DONE = "fixed|updated|created|added|changed|modified|edited|replaced|renamed|removed|deleted|" +
  "implemented|refactored|rewrote|rewritten|wrote|written|corrected|moved|inserted|applied|saved|patched|converted|" +
  "resolved|repaired";
const ENGLISH_TEXTS = "message|summary|changelog|notes?|description|title|e-?mail|text|answer|reply|report|sentence|" +
  "paragraph|poem|list|review|comment|plan|explanation|outline|overview|proposal|suggestion";

/** In the order in which they are tried; a reply in two languages is read in both. */
export const LANGUAGES: readonly Language[] = [
  {
    future: new RegExp(
      String
        .raw`^(?:(?:okay|ok|sure|great|good|alright|now|next|first|then|so|and|yes|certainly|of course|absolutely|` +
        String.raw`understood|got it|thanks?|to (?:start|begin|do (?:this|that|so)))[,.!:;\s–—-]+)*` +
        String
          .raw`(?:i['’]ll|i will|let me|let['’]s|i['’]m (?:now )?going to|i am (?:now )?going to|i need to|we['’]ll|` +
        String
          .raw`we will|i['’]m about to)\s+(?:(?:now|first|next|then|also|quickly|just|start|begin|by|to|have)\s+)*` +
        String.raw`(?:${ENGLISH_VERBS})`,
      "i",
    ),
    but:
      /\b(?:let me know|if|once you|when you|after you|unless|until|should you|want me|happy to|glad to|wait|not|never|no longer|should|would|could|might|whether|make sure|ensure|expect)\b|n['’]t\b/i,
    made: new RegExp(
      String.raw`\b(?:I|we)(?:['’]ve| have)?(?: (?:just|now|also|then|successfully|already))* (?:${ENGLISH_DONE})\b` +
        String.raw`(?!(?: [\w-]+){0,3} (?:${ENGLISH_TEXTS})\b)`,
      "i",
    ),
    was: new RegExp(
      String.raw`^(?:done[.!:,–—-]*\s*)?(?:successfully )?(?:(?:${ENGLISH_DONE})\b(?! by| in \d).*\.\w{1,8}\b|` +
        String
          .raw`(?:the|your|all|this|both|it|[\w.${"`"}/-]+)(?: [\w.${"`"}/'-]+){0,5} (?:has|have)(?: now| just)? been ` +
        String.raw`(?:now |successfully )?(?:${ENGLISH_DONE})\b|.{1,60} (?:is|are) now (?:${ENGLISH_DONE})\b)`,
      "i",
    ),
    tests:
      /\btests? (?:now |all |are |have |suite )*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green)\b|\b(?:i|we)(?:['’]ve| have)? (?:ran|run|executed) (?:the|all|your) (?:\w+ )?tests?\b/i,
    tells: new RegExp(
      String
        .raw`^(?:please\s+)?(?:what|why|how|which|who|whose|where|when|is|are|was|were|does|do|did|has|have|should|` +
        String
          .raw`explain|describe|summari[sz]e|tell|show|list|recap|report|review|compare|translate|say|repeat|quote|` +
        String
          .raw`print|count|reply|answer|respond|thanks?|(?:write|draft|compose|generate|give|suggest|propose|make|create)` +
        String.raw`(?: [\w-]+){0,5} (?:${ENGLISH_TEXTS}))\b`,
      "i",
    ),
    polite: /^(?:please\b|(?:can|could|would|will) (?:you|we)\b)|\bplease\b/i,
    change:
      /\b(?:fix|add|creat|writ|updat|chang|edit|renam|remov|delet|implement|refactor|replac|correct|convert|insert|mov|make|apply|repair)/i,
  },
  {
    future:
      /^(?:(?:gut|okay|ok|klar|natürlich|jetzt|nun|dann|also|zuerst|zunächst|als nächstes|ja)[,.!:\s–—-]+)*(?:ich werde|werde ich|lass(?:en sie)? mich|ich (?:lese|schaue|prüfe|öffne|erstelle|schreibe|ändere|bearbeite|suche|führe|beginne|sehe|passe|füge|lege|korrigiere|behebe)|(?:lese|schaue|prüfe|öffne|erstelle|schreibe|ändere|bearbeite|suche|führe|beginne|sehe|passe|füge|lege|korrigiere|behebe) ich)(?!\p{L})/iu,
    but: /(?<!\p{L})(?:nicht|falls|wenn|sobald|wissen|gerne?|warte|sollten?|würden?|kein\p{L}*)(?!\p{L})/iu,
    made:
      /(?<!\p{L})(?:ich habe|habe ich)(?!\p{L}).{0,120}(?<!\p{L})(?:behoben|korrigiert|aktualisiert|erstellt|angelegt|hinzugefügt|geändert|ersetzt|umbenannt|entfernt|gelöscht|implementiert|geschrieben|angepasst|repariert|gespeichert|eingefügt)/iu,
    was:
      /(?:wurden?|ist|sind)(?: \S+){0,4} (?:behoben|korrigiert|aktualisiert|erstellt|angelegt|hinzugefügt|geändert|ersetzt|umbenannt|entfernt|gelöscht|implementiert|angepasst|repariert)/iu,
    tests: /(?<!\p{L})tests? (?:\S+ ){0,3}(?:bestanden|erfolgreich|grün|durch|bestehen)(?!\p{L})/iu,
    tells:
      /^(?:bitte\s+)?(?:was|warum|wieso|weshalb|wie|welche\p{L}*|wer|wo|wann|erkläre?|beschreibe?|fasse?|sage?|zeige?|liste|nenne|erzähle?|berichte|vergleiche|übersetze|danke)(?!\p{L})/iu,
    polite: /^(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie|wir)|(?<!\p{L})bitte(?!\p{L})/iu,
    change:
      /beheb|korrigier|aktualisier|erstell|leg.* an|füg|änder|ersetz|benenn|entfern|lösch|implementier|schreib|pass.* an|reparier/iu,
  },
  {
    future:
      /^(?:(?:d['’]accord|bien|ok|maintenant|d['’]abord|ensuite|alors|oui|bien sûr)[,.!:\s–—-]+)*(?:je vais|nous allons|laisse-moi|laissez-moi|permettez-moi de|je (?:commence|lis|vérifie|regarde|cherche|crée|modifie|corrige|ouvre|lance))(?!\p{L})/iu,
    but: /(?<!\p{L})(?:pas|si|savoir|attend\p{L}*|dès que|jamais|devraient?|heureux)(?!\p{L})/iu,
    made:
      /(?<!\p{L})j['’]ai (?:\S+ ){0,2}(?:corrigé|créé|mis à jour|modifié|ajouté|remplacé|renommé|supprimé|écrit|implémenté|changé|réparé|appliqué)/iu,
    was:
      /(?:a|ont) été (?:\S+ )?(?:corrigé|créé|mise?s? à jour|modifié|ajouté|remplacé|renommé|supprimé|écrit|implémenté|changé|réparé)/iu,
    tests: /(?<!\p{L})tests (?:\S+ ){0,3}(?:passent|réussissent|passés|réussis)(?!\p{L})/iu,
    tells:
      /^(?:que|qu['’]|quoi|pourquoi|comment|quel\p{L}*|qui|où|quand|est-ce|explique\p{L}*|décri\p{L}*|résume\p{L}*|dis|dites|montre\p{L}*|liste\p{L}*|traduis\p{L}*|merci)(?!\p{L})/iu,
    polite: /(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|s['’]il (?:te|vous) plaît/iu,
    change: /corrig|cré|mett|modifi|ajout|remplac|renomm|supprim|écri|implément|chang|répar/iu,
  },
  {
    future:
      /^(?:(?:bien|vale|ok|ahora|primero|luego|entonces|sí|claro|de acuerdo)[,.!:\s–—-]+)*(?:voy a|vamos a|déjame|permíteme|procedo a|procederé|leeré|revisaré|crearé|buscaré|modificaré|corregiré)(?!\p{L})/iu,
    but: /(?<!\p{L})(?:no|si|saber|esper\p{L}*|cuando|nunca|deberían?)(?!\p{L})/iu,
    made:
      /(?<!\p{L})he (?:\S+ )?(?:corregido|creado|actualizado|modificado|añadido|agregado|reemplazado|renombrado|cambiado|eliminado|escrito|implementado|arreglado)/iu,
    was:
      /(?:ha|han) sido (?:\S+ )?(?:corregid|cread|actualizad|modificad|añadid|agregad|reemplazad|cambiad|eliminad|escrit|implementad|arreglad)|se (?:ha|han) (?:corregido|creado|actualizado|modificado|añadido|agregado|cambiado|eliminado)/iu,
    tests: /(?<!\p{L})(?:pruebas|tests) (?:\S+ ){0,3}(?:pasan|pasaron|pasado|exitosas)(?!\p{L})/iu,
    tells:
      /^(?:[¿]|(?:qué|por qué|cómo|cuál\p{L}*|quién\p{L}*|dónde|cuándo|explica\p{L}*|describe|resume|dime|muestra\p{L}*|lista|traduce|gracias)(?!\p{L}))/iu,
    polite: /(?<!\p{L})(?:puedes|podrías|puede|podría)(?!\p{L})|por favor/iu,
    change: /corrig|corrij|cre[ae]|actualiz|modifi|añad|agreg|reemplaz|cambi|elimin|escrib|implement|arregl/iu,
  },
  {
    future:
      /^(?:(?:certo|claro|ok|bem|bene|va bene|agora|ora|adesso|primeiro|prima|poi|sim|sì)[,.!:\s–—-]+)*(?:(?:eu )?vou|deixe-me|deixa eu|lasciami|lasci che|fammi|sto per|procedo|leggerò|creerò|controllerò|cercherò|modificherò|leggo|creo|controllo|cerco|modifico|correggo)(?!\p{L})/iu,
    but:
      /(?<!\p{L})(?:não|non|se|saber|sapere|esperar|aspett\p{L}*|quando|nunca|mai|deve\p{L}*|dovrebbe\p{L}*)(?!\p{L})/iu,
    made:
      /(?<!\p{L})(?:corrigi|criei|atualizei|modifiquei|adicionei|substituí|renomeei|removi|escrevi|implementei|alterei|mudei|ho (?:\S+ )?(?:corretto|creato|aggiornato|modificato|aggiunto|sostituito|rinominato|rimosso|scritto|implementato|cambiato|sistemato))(?!\p{L})/iu,
    was:
      /(?:foi|foram) (?:\S+ )?(?:corrigid|criad|atualizad|modificad|adicionad|substituíd|removid|alterad)|(?:è stat[oa]|sono stat[ie]) (?:\S+ )?(?:corrett|creat|aggiornat|modificat|aggiunt|sostituit|rimoss|cambiat)/iu,
    tests: /(?<!\p{L})(?:testes|test) (?:\S+ ){0,3}(?:passam|passaram|passando|passano|passati|superati)(?!\p{L})/iu,
    tells:
      /^(?:o que|por que|como|qual|quem|onde|explique|descreva|resuma|diga|mostre|liste|obrigad[oa]|che|cosa|perché|come|quale|chi|dove|spiega\p{L}*|descrivi|riassumi|dimmi|mostra\p{L}*|elenca|grazie)(?!\p{L})/iu,
    polite: /(?<!\p{L})(?:pode|poderia|puoi|potresti|può)(?!\p{L})|por favor|per favore/iu,
    change:
      /corrij|corrig|cri[ae]|atualiz|modifi|adicion|substitu|remov|escrev|implement|alter|mud|corregg|crea|aggiorn|aggiung|sostitu|rimuov|scriv|cambi|sistem/iu,
  },
  {
    future:
      /^(?:(?:хорошо|конечно|сейчас|теперь|сначала|итак|да|понял[а]?)[,.!:\s–—-]+)*(?:я\s+)?(?:сейчас\s+)?(?:буду|прочитаю|прочту|открою|посмотрю|проверю|создам|напишу|изменю|исправлю|запущу|найду|добавлю|обновлю|начну|давайте)(?!\p{L})/iu,
    but: /(?<!\p{L})(?:не|если|знать|когда|должн\p{L}*|жду)(?!\p{L})/iu,
    made: /(?<!\p{L})(?:исправил|создал|обновил|изменил|добавил|заменил|переименовал|удалил|написал|внёс)а?(?!\p{L})/iu,
    was:
      /(?:был[аио]?\s+)?(?:исправлен|создан|обновл[её]н|измен[её]н|добавлен|замен[её]н|удал[её]н)(?:[аыо]|на|ны|но)?(?!\p{L})/iu,
    tests: /(?<!\p{L})тесты (?:\S+ ){0,3}(?:проходят|прошли|пройдены)(?!\p{L})/iu,
    tells:
      /^(?:что|почему|зачем|как|како\p{L}*|кто|где|когда|объясни\p{L}*|опиши\p{L}*|расскажи\p{L}*|покажи\p{L}*|перечисли\p{L}*|переведи\p{L}*|спасибо)(?!\p{L})/iu,
    polite: /(?<!\p{L})(?:можешь|можете|мог(?:ли)? бы|пожалуйста)(?!\p{L})/iu,
    change: /исправ|созда|обнов|измен|добав|замен|переимен|удал|напиш|внес/iu,
  },
  {
    future:
      /^(?:好的?|现在|首先|接下来|那么|然后|是的|[，,！!。\s])*(?:我(?:将|会|要|来|先|现在|马上|这就)|让我|我们(?:先|来|将))/u,
    but: /如果|不|没|请告诉|等待|您|应该/u,
    made: /(?:已经?|我)(?:成功)?(?:将|把)?.{0,40}?(?:修复|创建|更新|修改|添加|替换|重命名|删除|写入|改为|实现)了?/u,
    was: /已被?(?:成功)?(?:修复|创建|更新|修改|添加|替换|删除)/u,
    tests: /测试(?:都|全部|均|已|现在)*(?:通过|成功)/u,
    tells: /什么|为什么|怎么|如何|哪|谁|吗|解释|描述|总结|告诉|列出|翻译|谢谢/u,
    polite: /请|帮我|能不能|可以/u,
    change: /修复|创建|更新|修改|添加|替换|重命名|删除|写|实现|改/u,
  },
  {
    future:
      /^(?:はい|では|それでは|まず|これから|次に|今から|さっそく)[、，,。]?.*(?:ます|ましょう)|(?:겠습니다|[할볼릴을]게요)/u,
    but: /ません|場合|ください|もし|お待ち|でしょう|않|다면|주세요|기다리/u,
    made:
      /(?:修正|作成|更新|変更|追加|置換|削除|実装|保存)(?:し|を行い)ました|書き換えました|(?:수정|생성|업데이트|변경|추가|교체|삭제|작성|구현)(?:했습니다|하였습니다|했어요)/u,
    was: /(?:修正|作成|更新|変更|追加|置換|削除)されました|(?:수정|생성|변경|추가|삭제)되었습니다/u,
    tests:
      /テスト.{0,12}(?:通りました|成功しました|パスしました|通っています)|테스트.{0,12}(?:통과했|통과합니다|성공했)/u,
    tells:
      /何|なぜ|どう|どの|どこ|誰|ですか|説明|要約|教えて|一覧|翻訳|ありがとう|무엇|왜|어떻게|어디|누구|설명|요약|알려|번역|감사/u,
    polite: /ください|くれますか|もらえますか|주세요|줄래|주실/u,
    change: /修正|直し|作成|作っ|更新|変更|追加|置換|削除|実装|書|수정|고쳐|생성|만들|변경|추가|삭제|작성|구현/u,
  },
];
