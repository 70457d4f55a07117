/** The words by which a reply announces a step or claims a change, and a prompt asks for words alone, by language. */

/**
 * The words of one language. Sentences are tested one by one, in lower case, without quotations and code: at the end of
 * every turn, where patterns without regard to case, or with properties of characters, would take ten milliseconds.
 */
export interface Language {
  /** A sentence in which the model says what it does next. */
  future: RegExp;
  /** Rules a sentence out: conditions, negations, courtesies. */
  but: RegExp;
  /**
   * The words that `made` and `was` need. Where a reply has none, neither is compiled, which would take a millisecond.
   */
  done?: RegExp;
  /** The model says that it changed something. */
  made: RegExp;
  /** Something is said to be changed without saying by whom: counts only at the beginning of a reply. */
  was: RegExp;
  /** The work is said to be over: counts at the beginning and the end of a reply to a prompt that wants a change. */
  over: RegExp;
  /** An offer to do it, at the end: counts where nobody can take it. */
  offers: RegExp;
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
/** Each ending is there once: the engine compiles each word of a list, at the end of every turn. */
const ENGLISH_DONE = "(?:fix|updat|creat|add|chang|modifi|edit|replac|renam|remov|delet|implement|refactor|correct|" +
  "mov|insert|appli|sav|patch|convert|resolv|repair)ed|(?:re)?wr(?:ote|itten)";
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
    ),
    but:
      /\b(?:let me know|if|once you|when you|after you|unless|until|should you|want me|happy to|glad to|wait|not|never|no longer|should|would|could|might|whether|make sure|ensure|expect)\b|n['’]t\b/,
    done: new RegExp(ENGLISH_DONE),
    made: new RegExp(
      String.raw`\b(?:i|we)(?:['’]ve| have)?(?: (?:just|now|also|then|successfully|already))* (?:${ENGLISH_DONE})\b` +
        String.raw`(?!(?: [\w-]+){0,3} (?:${ENGLISH_TEXTS})\b)`,
    ),
    was: new RegExp(
      String.raw`^(?:done[.!:,–—-]*\s*)?(?:successfully )?(?:(?:${ENGLISH_DONE})\b(?! by| in \d).*\.\w{1,8}\b|` +
        String
          .raw`(?:the|your|all|this|both|it|[\w.${"`"}/-]+)(?: [\w.${"`"}/'-]+){0,5} (?:has|have)(?: now| just)? been ` +
        String.raw`(?:now |successfully )?(?:${ENGLISH_DONE})\b|.{1,60} (?:is|are) now (?:${ENGLISH_DONE})\b)`,
    ),
    over: new RegExp(
      String.raw`^(?:(?:okay|ok|great|yes)[,.!]?\s+)?(?:all )?(?:is )?(?:done|finished|completed?|fixed)[.!\s]*$|` +
        String
          .raw`^(?:the|your|all|this|that|everything|it)(?: [\w.'${"`"}/-]+){0,4}? (?:is|are|has been|have been|['’]s)` +
        String.raw`(?: now| all)? (?:complete|completed|done|finished|fixed)\b|` +
        String.raw`\bnow (?:correctly |properly |also )?(?!is\b|has\b|was\b|does\b)[a-z]{2,12}s\b`,
    ),
    offers:
      /^(?:would you like me to|do you want me to|want me to|shall i|should i|may i|can i) (?!know\b)|\blet me know if you(?:['’]d| would)? (?:like|want) me to\b/,
    tests:
      /\btests? (?:now |all |are |have |suite )*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green)\b|\b(?:i|we)(?:['’]ve| have)? (?:ran|run|executed) (?:the|all|your) (?:\w+ )?tests?\b/,
    tells: new RegExp(
      String
        .raw`^(?:please\s+)?(?:what|why|how|which|who|whose|where|when|is|are|was|were|does|do|did|has|have|should|` +
        String
          .raw`explain|describe|summari[sz]e|tell|show|list|recap|report|review|compare|translate|say|repeat|quote|` +
        String
          .raw`print|count|reply|answer|respond|thanks?|(?:write|draft|compose|generate|give|suggest|propose|make|create)` +
        String.raw`(?: [\w-]+){0,5} (?:${ENGLISH_TEXTS}))\b`,
    ),
    polite: /^(?:please\b|(?:can|could|would|will) (?:you|we)\b)|\bplease\b/,
    change:
      /\b(?:fix|add|creat|writ|updat|chang|edit|renam|remov|delet|implement|refactor|replac|correct|convert|insert|mov|make|apply|repair)/,
  },
  {
    future:
      /^(?:(?:gut|okay|ok|klar|natürlich|jetzt|nun|dann|also|zuerst|zunächst|als nächstes|ja)[,.!:\s–—-]+)*(?:ich werde|werde ich|lass(?:en sie)? mich|ich (?:lese|schaue|prüfe|öffne|erstelle|schreibe|ändere|bearbeite|suche|führe|beginne|sehe|passe|füge|lege|korrigiere|behebe)|(?:lese|schaue|prüfe|öffne|erstelle|schreibe|ändere|bearbeite|suche|führe|beginne|sehe|passe|füge|lege|korrigiere|behebe) ich)(?![\wß-ÿ])/,
    but: /(?<![\wß-ÿ])(?:nicht|falls|wenn|sobald|wissen|gerne?|warte|sollten?|würden?|kein[\wß-ÿ]*)(?![\wß-ÿ])/,
    made:
      /(?<![\wß-ÿ])(?:ich habe|habe ich)(?![\wß-ÿ]).{0,120}(?<![\wß-ÿ])(?:behoben|korrigiert|aktualisiert|erstellt|angelegt|hinzugefügt|geändert|ersetzt|umbenannt|entfernt|gelöscht|implementiert|geschrieben|angepasst|repariert|gespeichert|eingefügt)/,
    was:
      /(?:wurden?|ist|sind)(?: \S+){0,4} (?:behoben|korrigiert|aktualisiert|erstellt|angelegt|hinzugefügt|geändert|ersetzt|umbenannt|entfernt|gelöscht|implementiert|angepasst|repariert)/,
    over:
      /^(?:alles )?(?:erledigt|fertig|behoben)[.!\s]*$|^(?:die|das|der|alles|es)(?: \S+){0,4} (?:ist|sind)(?: jetzt| nun)? (?:erledigt|fertig|abgeschlossen|behoben)/,
    offers: /^(?:soll ich|möchtest du, dass ich|möchten sie, dass ich|darf ich)(?![\wß-ÿ])/,
    tests: /(?<![\wß-ÿ])tests? (?:\S+ ){0,3}(?:bestanden|erfolgreich|grün|durch|bestehen)(?![\wß-ÿ])/,
    tells:
      /^(?:bitte\s+)?(?:was|warum|wieso|weshalb|wie|welche[\wß-ÿ]*|wer|wo|wann|erkläre?|beschreibe?|fasse?|sage?|zeige?|liste|nenne|erzähle?|berichte|vergleiche|übersetze|danke)(?![\wß-ÿ])/,
    polite: /^(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie|wir)|(?<![\wß-ÿ])bitte(?![\wß-ÿ])/,
    change:
      /beheb|korrigier|aktualisier|erstell|leg.* an|füg|änder|ersetz|benenn|entfern|lösch|implementier|schreib|pass.* an|reparier/,
  },
  {
    future:
      /^(?:(?:d['’]accord|bien|ok|maintenant|d['’]abord|ensuite|alors|oui|bien sûr)[,.!:\s–—-]+)*(?:je vais|nous allons|laisse-moi|laissez-moi|permettez-moi de|je (?:commence|lis|vérifie|regarde|cherche|crée|modifie|corrige|ouvre|lance))(?![\wß-ÿ])/,
    but: /(?<![\wß-ÿ])(?:pas|si|savoir|attend[\wß-ÿ]*|dès que|jamais|devraient?|heureux)(?![\wß-ÿ])/,
    made:
      /(?<![\wß-ÿ])j['’]ai (?:\S+ ){0,2}(?:corrigé|créé|mis à jour|modifié|ajouté|remplacé|renommé|supprimé|écrit|implémenté|changé|réparé|appliqué)/,
    was:
      /(?:a|ont) été (?:\S+ )?(?:corrigé|créé|mise?s? à jour|modifié|ajouté|remplacé|renommé|supprimé|écrit|implémenté|changé|réparé)/,
    over:
      /^(?:c['’]est )?(?:fait|terminé|corrigé|fini)[.!\s]*$|^(?:la|le|les|tout)(?: \S+){0,4} (?:est|sont)(?: maintenant)? (?:terminée?s?|faite?s?|corrigée?s?)/,
    offers:
      /^(?:veux-tu que je|voulez-vous que je|souhaitez-vous que je|souhaites-tu que je|dois-je|puis-je)(?![\wß-ÿ])/,
    tests: /(?<![\wß-ÿ])tests (?:\S+ ){0,3}(?:passent|réussissent|passés|réussis)(?![\wß-ÿ])/,
    tells:
      /^(?:que|qu['’]|quoi|pourquoi|comment|quel[\wß-ÿ]*|qui|où|quand|est-ce|explique[\wß-ÿ]*|décri[\wß-ÿ]*|résume[\wß-ÿ]*|dis|dites|montre[\wß-ÿ]*|liste[\wß-ÿ]*|traduis[\wß-ÿ]*|merci)(?![\wß-ÿ])/,
    polite: /(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|s['’]il (?:te|vous) plaît/,
    change: /corrig|cré|mett|modifi|ajout|remplac|renomm|supprim|écri|implément|chang|répar/,
  },
  {
    future:
      /^(?:(?:bien|vale|ok|ahora|primero|luego|entonces|sí|claro|de acuerdo)[,.!:\s–—-]+)*(?:voy a|vamos a|déjame|permíteme|procedo a|procederé|leeré|revisaré|crearé|buscaré|modificaré|corregiré)(?![\wß-ÿ])/,
    but: /(?<![\wß-ÿ])(?:no|si|saber|esper[\wß-ÿ]*|cuando|nunca|deberían?)(?![\wß-ÿ])/,
    made:
      /(?<![\wß-ÿ])he (?:\S+ )?(?:corregido|creado|actualizado|modificado|añadido|agregado|reemplazado|renombrado|cambiado|eliminado|escrito|implementado|arreglado)/,
    was:
      /(?:ha|han) sido (?:\S+ )?(?:corregid|cread|actualizad|modificad|añadid|agregad|reemplazad|cambiad|eliminad|escrit|implementad|arreglad)|se (?:ha|han) (?:corregido|creado|actualizado|modificado|añadido|agregado|cambiado|eliminado)/,
    over:
      /^(?:¡)?(?:listo|hecho|terminado|corregido)[.!\s]*$|^(?:la|el|los|todo)(?: \S+){0,4} (?:está|están)(?: ahora)? (?:list[oa]s?|hech[oa]s?|terminad[oa]s?|completad[oa]s?|corregid[oa]s?)/,
    offers: /^¿?(?:quieres que|quiere que|deseas que|desea que|te gustaría que|debo|puedo)(?![\wß-ÿ])/,
    tests: /(?<![\wß-ÿ])(?:pruebas|tests) (?:\S+ ){0,3}(?:pasan|pasaron|pasado|exitosas)(?![\wß-ÿ])/,
    tells:
      /^(?:[¿]|(?:qué|por qué|cómo|cuál[\wß-ÿ]*|quién[\wß-ÿ]*|dónde|cuándo|explica[\wß-ÿ]*|describe|resume|dime|muestra[\wß-ÿ]*|lista|traduce|gracias)(?![\wß-ÿ]))/,
    polite: /(?<![\wß-ÿ])(?:puedes|podrías|puede|podría)(?![\wß-ÿ])|por favor/,
    change: /corrig|corrij|cre[ae]|actualiz|modifi|añad|agreg|reemplaz|cambi|elimin|escrib|implement|arregl/,
  },
  {
    future:
      /^(?:(?:certo|claro|ok|bem|bene|va bene|agora|ora|adesso|primeiro|prima|poi|sim|sì)[,.!:\s–—-]+)*(?:(?:eu )?vou|deixe-me|deixa eu|lasciami|lasci che|fammi|sto per|procedo|leggerò|creerò|controllerò|cercherò|modificherò|leggo|creo|controllo|cerco|modifico|correggo)(?![\wß-ÿ])/,
    but:
      /(?<![\wß-ÿ])(?:não|non|se|saber|sapere|esperar|aspett[\wß-ÿ]*|quando|nunca|mai|deve[\wß-ÿ]*|dovrebbe[\wß-ÿ]*)(?![\wß-ÿ])/,
    made:
      /(?<![\wß-ÿ])(?:corrigi|criei|atualizei|modifiquei|adicionei|substituí|renomeei|removi|escrevi|implementei|alterei|mudei|ho (?:\S+ )?(?:corretto|creato|aggiornato|modificato|aggiunto|sostituito|rinominato|rimosso|scritto|implementato|cambiato|sistemato))(?![\wß-ÿ])/,
    was:
      /(?:foi|foram) (?:\S+ )?(?:corrigid|criad|atualizad|modificad|adicionad|substituíd|removid|alterad)|(?:è stat[oa]|sono stat[ie]) (?:\S+ )?(?:corrett|creat|aggiornat|modificat|aggiunt|sostituit|rimoss|cambiat)/,
    over:
      /^(?:pronto|feito|concluído|fatto|finito)[.!\s]*$|^(?:a|o|os|tudo|il|la|tutto)(?: \S+){0,4} (?:está|estão|é|sono)(?: agora| ora)? (?:pront[oa]s?|feit[oa]s?|concluíd[oa]s?|fatt[oa]|completat[oa]|risolt[oa])/,
    offers: /^(?:quer que eu|você quer que|deseja que eu|devo|posso|vuoi che|vuole che|desideri che)(?![\wß-ÿ])/,
    tests: /(?<![\wß-ÿ])(?:testes|test) (?:\S+ ){0,3}(?:passam|passaram|passando|passano|passati|superati)(?![\wß-ÿ])/,
    tells:
      /^(?:o que|por que|como|qual|quem|onde|explique|descreva|resuma|diga|mostre|liste|obrigad[oa]|che|cosa|perché|come|quale|chi|dove|spiega[\wß-ÿ]*|descrivi|riassumi|dimmi|mostra[\wß-ÿ]*|elenca|grazie)(?![\wß-ÿ])/,
    polite: /(?<![\wß-ÿ])(?:pode|poderia|puoi|potresti|può)(?![\wß-ÿ])|por favor|per favore/,
    change:
      /corrij|corrig|cri[ae]|atualiz|modifi|adicion|substitu|remov|escrev|implement|alter|mud|corregg|crea|aggiorn|aggiung|sostitu|rimuov|scriv|cambi|sistem/,
  },
  {
    future:
      /^(?:(?:хорошо|конечно|сейчас|теперь|сначала|итак|да|понял[а]?)[,.!:\s–—-]+)*(?:я\s+)?(?:сейчас\s+)?(?:буду|прочитаю|прочту|открою|посмотрю|проверю|создам|напишу|изменю|исправлю|запущу|найду|добавлю|обновлю|начну|давайте)(?![а-ё])/,
    but: /(?<![а-ё])(?:не|если|знать|когда|должн[а-ё]*|жду)(?![а-ё])/,
    made: /(?<![а-ё])(?:исправил|создал|обновил|изменил|добавил|заменил|переименовал|удалил|написал|внёс)а?(?![а-ё])/,
    was:
      /(?:был[аио]?\s+)?(?:исправлен|создан|обновл[её]н|измен[её]н|добавлен|замен[её]н|удал[её]н)(?:[аыо]|на|ны|но)?(?![а-ё])/,
    over:
      /^(?:всё |все )?(?:готово|сделано|исправлено)[.!\s]*$|^(?:задача|работа)(?: \S+){0,3} (?:выполнена|завершена|готова)/,
    offers: /^(?:хотите,? чтобы я|хочешь,? чтобы я|мне (?:исправить|изменить|продолжить|сделать|добавить)|могу ли я)/,
    tests: /(?<![а-ё])тесты (?:\S+ ){0,3}(?:проходят|прошли|пройдены)(?![а-ё])/,
    tells:
      /^(?:что|почему|зачем|как|како[а-ё]*|кто|где|когда|объясни[а-ё]*|опиши[а-ё]*|расскажи[а-ё]*|покажи[а-ё]*|перечисли[а-ё]*|переведи[а-ё]*|спасибо)(?![а-ё])/,
    polite: /(?<![а-ё])(?:можешь|можете|мог(?:ли)? бы|пожалуйста)(?![а-ё])/,
    change: /исправ|созда|обнов|измен|добав|замен|переимен|удал|напиш|внес/,
  },
  {
    future:
      /^(?:好的?|现在|首先|接下来|那么|然后|是的|[，,！!。\s])*(?:我(?:将|会|要|来|先|现在|马上|这就)|让我|我们(?:先|来|将))/,
    but: /如果|不|没|请告诉|等待|您|应该/,
    made: /(?:已经?|我)(?:成功)?(?:将|把)?.{0,40}?(?:修复|创建|更新|修改|添加|替换|重命名|删除|写入|改为|实现)了?/,
    was: /已被?(?:成功)?(?:修复|创建|更新|修改|添加|替换|删除)/,
    over: /^(?:已经?)?(?:全部)?(?:完成|搞定|好)了?[。！!.\s]*$|任务(?:已经?)?完成|现在(?:会|可以|能)?(?:正确)?返回/,
    offers: /(?:需要|要不要|是否需要|想让|希望)我.*[?？吗]/,
    tests: /测试(?:都|全部|均|已|现在)*(?:通过|成功)/,
    tells: /什么|为什么|怎么|如何|哪|谁|吗|解释|描述|总结|告诉|列出|翻译|谢谢/,
    polite: /请|帮我|能不能|可以/,
    change: /修复|创建|更新|修改|添加|替换|重命名|删除|写|实现|改/,
  },
  {
    future:
      /^(?:はい|では|それでは|まず|これから|次に|今から|さっそく)[、，,。]?.*(?:ます|ましょう)|(?:겠습니다|[할볼릴을]게요)/,
    but: /ません|場合|ください|もし|お待ち|でしょう|않|다면|주세요|기다리/,
    made:
      /(?:修正|作成|更新|変更|追加|置換|削除|実装|保存)(?:し|を行い)ました|書き換えました|(?:수정|생성|업데이트|변경|추가|교체|삭제|작성|구현)(?:했습니다|하였습니다|했어요)/,
    was: /(?:修正|作成|更新|変更|追加|置換|削除)されました|(?:수정|생성|변경|추가|삭제)되었습니다/,
    over:
      /^(?:完了|完成|対応)(?:です|しました|済みです)?[。！!.\s]*$|作業.{0,8}完了しました|^(?:완료|끝)(?:했습니다|되었습니다|났습니다|입니다)?[.!\s]*$/,
    offers: /(?:しましょうか|よろしいですか|いたしましょうか)|(?:할까요|드릴까요|해도 될까요)/,
    tests:
      /テスト.{0,12}(?:通りました|成功しました|パスしました|通っています)|테스트.{0,12}(?:통과했|통과합니다|성공했)/,
    tells:
      /何|なぜ|どう|どの|どこ|誰|ですか|説明|要約|教えて|一覧|翻訳|ありがとう|무엇|왜|어떻게|어디|누구|설명|요약|알려|번역|감사/,
    polite: /ください|くれますか|もらえますか|주세요|줄래|주실/,
    change: /修正|直し|作成|作っ|更新|変更|追加|置換|削除|実装|書|수정|고쳐|생성|만들|변경|추가|삭제|작성|구현/,
  },
];
