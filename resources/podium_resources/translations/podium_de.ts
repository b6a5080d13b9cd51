<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Podium</source>
        <translation>Über Podium</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Version {0}</source>
        <translation>Version {0}</translation>
    </message>
    <message>
        <source>Video with sound from a prompt, all GPUs of this machine on one clip.</source>
        <translation>Video mit Ton aus einem Prompt, alle GPUs dieses Rechners an einem Clip.</translation>
    </message>
    <message>
        <source>Apache License 2.0. The typeface is Inter, under the SIL Open Font License.</source>
        <translation>Apache-Lizenz 2.0. Die Schrift ist Inter, unter der SIL Open Font License.</translation>
    </message>
</context>
<context>
    <name>BlocksField</name>
    <message>
        <source>own</source>
        <translation>eigene</translation>
    </message>
</context>
<context>
    <name>BranchView</name>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Sound to picture</source>
        <translation>Ton zu Bild</translation>
    </message>
    <message>
        <source>Picture to sound</source>
        <translation>Bild zu Ton</translation>
    </message>
</context>
<context>
    <name>ClipActions</name>
    <message>
        <source>Use This Frame as the &amp;First Image</source>
        <translation>Dieses Bild als &amp;erstes Bild</translation>
    </message>
    <message>
        <source>Use This Frame as the Last &amp;Image</source>
        <translation>Dieses Bild als le&amp;tztes Bild</translation>
    </message>
    <message>
        <source>Sa&amp;ve This Frame…</source>
        <translation>Bild s&amp;peichern…</translation>
    </message>
    <message>
        <source>&amp;Copy This Frame</source>
        <translation>Bild &amp;kopieren</translation>
    </message>
    <message>
        <source>Copy the Clip&apos;s Fil&amp;e</source>
        <translation>&amp;Datei des Clips kopieren</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>E&amp;xportieren…</translation>
    </message>
    <message>
        <source>Show in F&amp;older</source>
        <translation>Im &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>S&amp;tar</source>
        <translation>Ster&amp;n</translation>
    </message>
    <message>
        <source>&amp;Reuse Everything</source>
        <translation>&amp;Alles übernehmen</translation>
    </message>
    <message>
        <source>Reuse Part&amp;s…</source>
        <translation>Te&amp;ile übernehmen…</translation>
    </message>
    <message>
        <source>&amp;Move to the Trash</source>
        <translation>In den Papierkor&amp;b</translation>
    </message>
</context>
<context>
    <name>ClipDesk</name>
    <message>
        <source>PNG pictures (*.png)</source>
        <translation>PNG-Bilder (*.png)</translation>
    </message>
    <message>
        <source>Save This Frame</source>
        <translation>Bild speichern</translation>
    </message>
</context>
<context>
    <name>ClipOpener</name>
    <message>
        <source>Not found on this machine: {0}. Everything else can be reused.</source>
        <translation>Auf diesem Rechner nicht gefunden: {0}. Alles andere kann übernommen werden.</translation>
    </message>
    <message>
        <source>Found by name, but with other content than the clip was made with: {0}.</source>
        <translation>Dem Namen nach gefunden, aber mit anderem Inhalt als dem, mit dem der Clip entstand: {0}.</translation>
    </message>
</context>
<context>
    <name>CloseDialog</name>
    <message>
        <source>Close Podium</source>
        <translation>Podium schließen</translation>
    </message>
    <message>
        <source>Finish this clip</source>
        <translation>Diesen Clip fertigstellen</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Abbrechen und schließen</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
    <message>
        <source>Finish the clip and close then, stop it and close now, or stay here. The queue is kept.</source>
        <translation>Den Clip fertigstellen und dann schließen, ihn abbrechen und jetzt schließen, oder bleiben. Die Warteschlange bleibt erhalten.</translation>
    </message>
    <message>
        <source>A clip is being made</source>
        <translation>Ein Clip entsteht</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>Swap sides (X)</source>
        <translation>Seiten tauschen (X)</translation>
    </message>
    <message>
        <source>Sound of</source>
        <translation>Ton von</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation>Seed {0}</translation>
    </message>
</context>
<context>
    <name>ComposeState</name>
    <message>
        <source>Write what the clip shall show, and what is to be heard.</source>
        <translation>Schreiben Sie, was der Clip zeigen soll und was zu hören ist.</translation>
    </message>
    <message>
        <source>The prompt is too long: it has {0} tokens, and the model reads {1} at most. Shorten it.</source>
        <translation>Der Prompt ist zu lang: Er hat {0} Token, und das Modell liest höchstens {1}. Kürzen Sie ihn.</translation>
    </message>
</context>
<context>
    <name>ComposeView</name>
    <message>
        <source>Generate</source>
        <translation>Erzeugen</translation>
    </message>
    <message>
        <source>How many clips, with one seed after another</source>
        <translation>Wie viele Clips, mit einem Seed nach dem anderen</translation>
    </message>
    <message>
        <source>Leave it as it was</source>
        <translation>Unverändert lassen</translation>
    </message>
    <message>
        <source>An entry of the queue is edited.</source>
        <translation>Ein Eintrag der Warteschlange wird bearbeitet.</translation>
    </message>
    <message>
        <source>Put back into the queue</source>
        <translation>Zurück in die Warteschlange</translation>
    </message>
    <message>
        <source>Generate {0}</source>
        <translation>{0} erzeugen</translation>
    </message>
</context>
<context>
    <name>ConfirmDialog</name>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
</context>
<context>
    <name>DetailsFold</name>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the message and its details</source>
        <translation>Die Meldung mit ihren Einzelheiten kopieren</translation>
    </message>
</context>
<context>
    <name>DeviceRowView</name>
    <message>
        <source>Memory in use</source>
        <translation>Belegter Speicher</translation>
    </message>
    <message>
        <source>Use {0} at {1}</source>
        <translation>{0} an {1} verwenden</translation>
    </message>
    <message>
        <source>{0} of {1} in use</source>
        <translation>{0} von {1} belegt</translation>
    </message>
</context>
<context>
    <name>DeviceView</name>
    <message>
        <source>On GPUs</source>
        <translation>Auf GPUs</translation>
    </message>
    <message>
        <source>On the CPU</source>
        <translation>Auf der CPU</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Nochmals suchen</translation>
    </message>
    <message>
        <source>Ranks on the CPU</source>
        <translation>Ränge auf der CPU</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ränge</translation>
    </message>
    <message>
        <source>Being looked for…</source>
        <translation>Wird gesucht…</translation>
    </message>
    <message>
        <source>Works on any machine, slowly. Podium takes the CPU only if you do.</source>
        <translation>Läuft auf jedem Rechner, aber langsam. Podium nimmt die CPU nur, wenn Sie sie wählen.</translation>
    </message>
</context>
<context>
    <name>DevicesState</name>
    <message>
        <source>It gives no answer.</source>
        <translation>Keine Antwort.</translation>
    </message>
    <message>
        <source>Clips are made on the CPU, which is slow: minutes or hours where a GPU takes seconds.</source>
        <translation>Clips entstehen auf der CPU, und das ist langsam: Minuten oder Stunden, wo eine GPU Sekunden braucht.</translation>
    </message>
    <message>
        <source>No NVIDIA GPU was found here. Clips can be made on the CPU, slowly, if you choose it.</source>
        <translation>Hier wurde keine NVIDIA-GPU gefunden. Clips können langsam auf der CPU entstehen, wenn Sie sie wählen.</translation>
    </message>
    <message>
        <source>Choose at least one GPU, or the CPU.</source>
        <translation>Wählen Sie mindestens eine GPU oder die CPU.</translation>
    </message>
    <message>
        <source>None of the GPUs here can be used; beside each stands why. The CPU can be chosen instead.</source>
        <translation>Keine der GPUs hier ist verwendbar; bei jeder steht, warum. Stattdessen können Sie die CPU wählen.</translation>
    </message>
</context>
<context>
    <name>EnhanceDialog</name>
    <message>
        <source>Enhance the Prompt</source>
        <translation>Prompt ausarbeiten</translation>
    </message>
    <message>
        <source>Your prompt</source>
        <translation>Ihr Prompt</translation>
    </message>
    <message>
        <source>Written out</source>
        <translation>Ausgearbeitet</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Write again</source>
        <translation>Neu schreiben</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Being written…</source>
        <translation>Wird geschrieben…</translation>
    </message>
</context>
<context>
    <name>EnhanceState</name>
    <message>
        <source>Being written: {0} of at most {1} tokens.</source>
        <translation>Wird geschrieben: {0} von höchstens {1} Token.</translation>
    </message>
</context>
<context>
    <name>EntryRunner</name>
    <message>
        <source>A GPU that this clip was meant for is not here any more. Edit the entry to take another.</source>
        <translation>Eine GPU, für die dieser Clip gedacht war, ist nicht mehr da. Bearbeiten Sie den Eintrag, um eine andere zu nehmen.</translation>
    </message>
</context>
<context>
    <name>EstimateState</name>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
</context>
<context>
    <name>EstimateView</name>
    <message>
        <source>Video tokens</source>
        <translation>Video-Token</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Video tokens: {0}</source>
        <translation>Video-Token: {0}</translation>
    </message>
    <message>
        <source>Time: {0}</source>
        <translation>Zeit: {0}</translation>
    </message>
    <message>
        <source>Memory per GPU</source>
        <translation>Speicher je GPU</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>noch unbekannt</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
    <message>
        <source>No clip like it was made on this machine yet</source>
        <translation>Auf diesem Rechner entstand noch kein solcher Clip</translation>
    </message>
    <message>
        <source>The fleet starts before, in about {0}</source>
        <translation>Vorher startet der Verbund, in etwa {0}</translation>
    </message>
    <message>
        <source>about {0}</source>
        <translation>etwa {0}</translation>
    </message>
    <message>
        <source>The text encoder waits in this machine’s memory while it has nothing to do.</source>
        <translation>Der Text-Encoder wartet im Arbeitsspeicher dieses Rechners, solange er nichts zu tun hat.</translation>
    </message>
    <message>
        <source>So do the decoders and the upscaler.</source>
        <translation>Ebenso die Decoder und der Upscaler.</translation>
    </message>
    <message>
        <source>Weights without LoRAs are kept in this machine’s memory.</source>
        <translation>Die Gewichte ohne LoRAs liegen im Arbeitsspeicher dieses Rechners.</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Show in Folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Cancel the Export</source>
        <translation>Export abbrechen</translation>
    </message>
    <message>
        <source>The clip&apos;s size</source>
        <translation>Größe des Clips</translation>
    </message>
    <message>
        <source>{0} pixels</source>
        <translation>{0} Pixel</translation>
    </message>
    <message>
        <source>Longest side</source>
        <translation>Längste Seite</translation>
    </message>
    <message>
        <source>Goes to</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>ProRes 422 HQ</source>
        <translation>ProRes 422 HQ</translation>
    </message>
    <message>
        <source>For editing and grading: a .mov in 10 bits with uncompressed sound.</source>
        <translation>Für Schnitt und Farbkorrektur: eine .mov mit 10 Bit und unkomprimiertem Ton.</translation>
    </message>
    <message>
        <source>DNxHR HQX</source>
        <translation>DNxHR HQX</translation>
    </message>
    <message>
        <source>For editing in Avid and Resolve: a .mov in 10 bits with uncompressed sound.</source>
        <translation>Für den Schnitt in Avid und Resolve: eine .mov mit 10 Bit und unkomprimiertem Ton.</translation>
    </message>
    <message>
        <source>Pictures and sound</source>
        <translation>Bilder und Ton</translation>
    </message>
    <message>
        <source>A folder of numbered PNGs and a WAV, for compositing.</source>
        <translation>Ein Ordner mit nummerierten PNGs und einer WAV, für das Compositing.</translation>
    </message>
    <message>
        <source>GIF</source>
        <translation>GIF</translation>
    </message>
    <message>
        <source>256 colours, silent; plays everywhere.</source>
        <translation>256 Farben, stumm; läuft überall.</translation>
    </message>
    <message>
        <source>WebP</source>
        <translation>WebP</translation>
    </message>
    <message>
        <source>All colours, silent, smaller than a GIF.</source>
        <translation>Alle Farben, stumm, kleiner als ein GIF.</translation>
    </message>
    <message>
        <source>DNxHR takes pictures of {0} × {1} and more.</source>
        <translation>DNxHR nimmt Bilder ab {0} × {1}.</translation>
    </message>
    <message>
        <source>Where the folder of pictures goes</source>
        <translation>Wohin der Bilderordner kommt</translation>
    </message>
    <message>
        <source>{0} files (*{1})</source>
        <translation>{0}-Dateien (*{1})</translation>
    </message>
    <message>
        <source>Being cancelled…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>Being written, {0}%</source>
        <translation>Wird geschrieben, {0} %</translation>
    </message>
    <message>
        <source>“{0}” was written.</source>
        <translation>„{0}“ wurde geschrieben.</translation>
    </message>
</context>
<context>
    <name>FaultDialog</name>
    <message>
        <source>A Fault in Podium</source>
        <translation>Ein Fehler in Podium</translation>
    </message>
    <message>
        <source>A fault in Podium</source>
        <translation>Ein Fehler in Podium</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>FaultReports</name>
    <message>
        <source>Something went wrong that should not ({0}). You can go on, but some of what is shown may be wrong until Podium is started again.</source>
        <translation>Etwas ging schief, das nicht schiefgehen sollte ({0}). Sie können weiterarbeiten, doch manches Angezeigte kann falsch sein, bis Podium neu gestartet wird.</translation>
    </message>
</context>
<context>
    <name>FleetState</name>
    <message>
        <source>A new fleet is started.</source>
        <translation>Ein neuer Verbund wird gestartet.</translation>
    </message>
    <message>
        <source>{0} freed on {1} devices.</source>
        <translation>{0} auf {1} Geräten freigegeben.</translation>
    </message>
    <message>
        <source>{0} freed on {1}</source>
        <translation>{0} auf {1} freigegeben</translation>
    </message>
    <message>
        <source>{0}.</source>
        <translation>{0}.</translation>
    </message>
    <message>
        <source>Whether the memory on {0} is free cannot be told: it gives no answer.</source>
        <translation>Ob der Speicher auf {0} frei ist, lässt sich nicht sagen: keine Antwort.</translation>
    </message>
    <message>
        <source>{0} on {1} are held still, by {2}.</source>
        <translation>{0} auf {1} sind noch belegt, von {2}.</translation>
    </message>
    <message>
        <source>the CPU</source>
        <translation>der CPU</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
</context>
<context>
    <name>FleetView</name>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Load the model now, so that the first clip begins at once</source>
        <translation>Das Modell jetzt laden, damit der erste Clip sofort beginnt</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>Entladen</translation>
    </message>
    <message>
        <source>Give the memory back; the next clip loads the model again</source>
        <translation>Den Speicher freigeben; der nächste Clip lädt das Modell neu</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>End the fleet; a clip at work is cancelled first</source>
        <translation>Den Verbund beenden; ein laufender Clip wird vorher abgebrochen</translation>
    </message>
    <message>
        <source>Rank {0} does not respond</source>
        <translation>Rang {0} reagiert nicht</translation>
    </message>
    <message>
        <source>No fleet</source>
        <translation>Kein Verbund</translation>
    </message>
    <message>
        <source>The model loads with the first clip and stays loaded after it. Start loads it now.</source>
        <translation>Das Modell lädt mit dem ersten Clip und bleibt danach geladen. „Starten“ lädt es jetzt.</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>The ranks are being started…</source>
        <translation>Die Ränge werden gestartet…</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Endet</translation>
    </message>
    <message>
        <source>The ranks are being ended…</source>
        <translation>Die Ränge werden beendet…</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Blockiert</translation>
    </message>
</context>
<context>
    <name>FormatView</name>
    <message>
        <source>Shape</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Width in pixels</source>
        <translation>Breite in Pixeln</translation>
    </message>
    <message>
        <source>Height in pixels</source>
        <translation>Höhe in Pixeln</translation>
    </message>
    <message>
        <source>Frames per second</source>
        <translation>Bilder pro Sekunde</translation>
    </message>
    <message>
        <source>{0} fps</source>
        <translation>{0} B/s</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Length in seconds</source>
        <translation>Länge in Sekunden</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source>Length in frames: 8 times a whole number, plus 1</source>
        <translation>Länge in Bildern: ein Vielfaches von 8, plus 1</translation>
    </message>
    <message>
        <source> frames</source>
        <translation> Bilder</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>{0} MP</source>
        <translation>{0} MP</translation>
    </message>
</context>
<context>
    <name>FrameClipPlayer</name>
    <message>
        <source>Clips play without sound, since Qt&apos;s multimedia part cannot be loaded: {0}.</source>
        <translation>Clips laufen ohne Ton, da Qts Multimediateil nicht geladen werden kann: {0}.</translation>
    </message>
</context>
<context>
    <name>GpuCard</name>
    <message>
        <source>Memory of the device</source>
        <translation>Speicher des Geräts</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
    <message>
        <source>Held by the last fleet</source>
        <translation>Noch vom letzten Verbund belegt</translation>
    </message>
    <message>
        <source>Chosen for the next fleet</source>
        <translation>Für den nächsten Verbund gewählt</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>BLOCKED</source>
        <translation>BLOCKIERT</translation>
    </message>
    <message>
        <source>LOST</source>
        <translation>VERLOREN</translation>
    </message>
    <message>
        <source>NOT RESPONDING</source>
        <translation>REAGIERT NICHT</translation>
    </message>
    <message>
        <source>NO ANSWER</source>
        <translation>KEINE ANTWORT</translation>
    </message>
    <message>
        <source>Memory: not known</source>
        <translation>Speicher: unbekannt</translation>
    </message>
    <message>
        <source>{0} here · {1} elsewhere · {2} free</source>
        <translation>{0} hier · {1} sonst · {2} frei</translation>
    </message>
    <message>
        <source>{0} in use · {1} free</source>
        <translation>{0} belegt · {1} frei</translation>
    </message>
    <message>
        <source>{0} ours · {1} free</source>
        <translation>{0} eigen · {1} frei</translation>
    </message>
    <message>
        <source>{0} ours · {1} others’ · {2} free</source>
        <translation>{0} eigen · {1} fremd · {2} frei</translation>
    </message>
    <message>
        <source>{0} (process {1})</source>
        <translation>{0} (Prozess {1})</translation>
    </message>
    <message>
        <source>{0} (process {1}): {2}</source>
        <translation>{0} (Prozess {1}): {2}</translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation>{0} %</translation>
    </message>
    <message>
        <source>{0} threads</source>
        <translation>{0} Threads</translation>
    </message>
    <message>
        <source>{0} °C</source>
        <translation>{0} °C</translation>
    </message>
    <message>
        <source>{0} W</source>
        <translation>{0} W</translation>
    </message>
</context>
<context>
    <name>GuidanceView</name>
    <message>
        <source>Steps of the first stage</source>
        <translation>Schritte der ersten Stufe</translation>
    </message>
    <message>
        <source>Distilled LoRA in stage 1</source>
        <translation>Destilliertes LoRA in Stufe 1</translation>
    </message>
    <message>
        <source>Distilled LoRA in stage 2</source>
        <translation>Destilliertes LoRA in Stufe 2</translation>
    </message>
    <message>
        <source>Reset to the model&apos;s own</source>
        <translation>Auf die Werte des Modells zurücksetzen</translation>
    </message>
    <message>
        <source>Fast is not guided</source>
        <translation>„Schnell“ ist nicht geführt</translation>
    </message>
    <message>
        <source>Guidance</source>
        <translation>Führung</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Blocks that STG perturbs, counted from 0: 28, or 14, 19</source>
        <translation>Blöcke, die STG stört, gezählt ab 0: 28, oder 14, 19</translation>
    </message>
    <message>
        <source>STG blocks</source>
        <translation>STG-Blöcke</translation>
    </message>
    <message>
        <source>Stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>Stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>Distilled LoRA</source>
        <translation>Destilliertes LoRA</translation>
    </message>
    <message>
        <source>CFG</source>
        <translation>CFG</translation>
    </message>
    <message>
        <source>pull away from the negative prompt; 1 does nothing</source>
        <translation>weg vom negativen Prompt; 1 bewirkt nichts</translation>
    </message>
    <message>
        <source>STG</source>
        <translation>STG</translation>
    </message>
    <message>
        <source>pull towards coherent motion; 0 does nothing</source>
        <translation>hin zu stimmiger Bewegung; 0 bewirkt nichts</translation>
    </message>
    <message>
        <source>Rescale</source>
        <translation>Ausgleich</translation>
    </message>
    <message>
        <source>how much of the contrast that guidance adds is taken back, 0 to 1</source>
        <translation>wie viel des Kontrasts, den die Führung hinzufügt, zurückgenommen wird, 0 bis 1</translation>
    </message>
    <message>
        <source>Modality</source>
        <translation>Modalität</translation>
    </message>
    <message>
        <source>pull picture and sound together; 1 does nothing</source>
        <translation>Bild und Ton zusammenführen; 1 bewirkt nichts</translation>
    </message>
    <message>
        <source>Skip steps</source>
        <translation>Auslassen</translation>
    </message>
    <message>
        <source>guide on every step, or leave so many out after each</source>
        <translation>in jedem Schritt führen, oder nach jedem so viele auslassen</translation>
    </message>
    <message>
        <source>Quality and HQ are guided; Fast is not.</source>
        <translation>„Qualität“ und „HQ“ sind geführt, „Schnell“ nicht.</translation>
    </message>
    <message>
        <source>The values show once a model is chosen.</source>
        <translation>Die Werte erscheinen, sobald ein Modell gewählt ist.</translation>
    </message>
</context>
<context>
    <name>HeaderView</name>
    <message>
        <source>Choose the model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Choose the devices</source>
        <translation>Geräte wählen</translation>
    </message>
    <message>
        <source>Show the fleet</source>
        <translation>Verbund zeigen</translation>
    </message>
    <message>
        <source>Looking at the model…</source>
        <translation>Das Modell wird geprüft…</translation>
    </message>
    <message>
        <source>No model chosen</source>
        <translation>Kein Modell gewählt</translation>
    </message>
    <message>
        <source>Demo model</source>
        <translation>Demomodell</translation>
    </message>
    <message>
        <source>Not responding</source>
        <translation>Reagiert nicht</translation>
    </message>
    <message>
        <source>No device chosen</source>
        <translation>Kein Gerät gewählt</translation>
    </message>
    <message>
        <source>CPU, ranks: {0}</source>
        <translation>CPU, Ränge: {0}</translation>
    </message>
    <message>
        <source>GPUs: {0}</source>
        <translation>GPUs: {0}</translation>
    </message>
    <message>
        <source>Not loaded</source>
        <translation>Nicht geladen</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Lädt…</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Blockiert</translation>
    </message>
</context>
<context>
    <name>HistoryActions</name>
    <message>
        <source>Show on the &amp;Stage</source>
        <translation>Auf der &amp;Bühne zeigen</translation>
    </message>
    <message>
        <source>S&amp;tar</source>
        <translation>Ster&amp;n</translation>
    </message>
    <message>
        <source>&amp;Compare</source>
        <translation>&amp;Vergleichen</translation>
    </message>
    <message>
        <source>&amp;Reuse Everything</source>
        <translation>&amp;Alles übernehmen</translation>
    </message>
    <message>
        <source>Reuse &amp;Parts…</source>
        <translation>&amp;Teile übernehmen…</translation>
    </message>
    <message>
        <source>Use as the First &amp;Image</source>
        <translation>Als erstes B&amp;ild verwenden</translation>
    </message>
    <message>
        <source>Show in F&amp;older</source>
        <translation>Im &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>E&amp;xportieren…</translation>
    </message>
    <message>
        <source>&amp;Move to the Trash</source>
        <translation>In den &amp;Papierkorb</translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation>&amp;Suchen…</translation>
    </message>
    <message>
        <source>&amp;Starred Only</source>
        <translation>Nur &amp;markierte</translation>
    </message>
    <message>
        <source>As a &amp;List</source>
        <translation>Als &amp;Liste</translation>
    </message>
    <message>
        <source>&amp;Back to the Clip at Work</source>
        <translation>&amp;Zurück zum laufenden Clip</translation>
    </message>
    <message>
        <source>Forget Clips Whose Files Are &amp;Gone</source>
        <translation>Clips ver&amp;gessen, deren Dateien fehlen</translation>
    </message>
</context>
<context>
    <name>HistoryModel</name>
    <message>
        <source>{0}, {1} by {2} pixels, {3:.1f} seconds, seed {4}</source>
        <translation>{0}, {1} mal {2} Pixel, {3:.1f} Sekunden, Seed {4}</translation>
    </message>
    <message>
        <source>{0}, starred</source>
        <translation>{0}, markiert</translation>
    </message>
</context>
<context>
    <name>HistoryState</name>
    <message>
        <source>“{0}” could not be moved to the trash. It lies where it lay.</source>
        <translation>„{0}“ konnte nicht in den Papierkorb gelegt werden. Die Datei liegt, wo sie lag.</translation>
    </message>
</context>
<context>
    <name>HistoryView</name>
    <message>
        <source>Search prompts</source>
        <translation>Prompts durchsuchen</translation>
    </message>
    <message>
        <source>Search the history</source>
        <translation>Verlauf durchsuchen</translation>
    </message>
    <message>
        <source>Filter by LoRA</source>
        <translation>Nach LoRA filtern</translation>
    </message>
    <message>
        <source>Filter by model</source>
        <translation>Nach Modell filtern</translation>
    </message>
    <message>
        <source>Back to the clip at work</source>
        <translation>Zurück zum laufenden Clip</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>More for the history</source>
        <translation>Mehr zum Verlauf</translation>
    </message>
    <message>
        <source>Clips</source>
        <translation>Clips</translation>
    </message>
    <message>
        <source>Compare the two chosen clips, or the one chosen with the one on the Stage (C)</source>
        <translation>Die zwei gewählten Clips vergleichen, oder den gewählten mit dem auf der Bühne (C)</translation>
    </message>
    <message>
        <source>No clip is found. Search for other words, or take the filters off.</source>
        <translation>Kein Clip gefunden. Suchen Sie nach anderen Wörtern, oder nehmen Sie die Filter weg.</translation>
    </message>
    <message>
        <source>Finished clips are kept here, and in your clips folder.</source>
        <translation>Fertige Clips stehen hier und liegen in Ihrem Ordner für Clips.</translation>
    </message>
    <message>
        <source>Clips: {0}</source>
        <translation>Clips: {0}</translation>
    </message>
    <message>
        <source>All LoRAs</source>
        <translation>Alle LoRAs</translation>
    </message>
    <message>
        <source>All models</source>
        <translation>Alle Modelle</translation>
    </message>
</context>
<context>
    <name>ImageItemView</name>
    <message>
        <source>The picture</source>
        <translation>Das Bild</translation>
    </message>
    <message>
        <source>Take the picture out</source>
        <translation>Bild herausnehmen</translation>
    </message>
    <message>
        <source>First frame</source>
        <translation>Erstes Bild</translation>
    </message>
    <message>
        <source>Last frame</source>
        <translation>Letztes Bild</translation>
    </message>
    <message>
        <source>At frame</source>
        <translation>Bei Bild</translation>
    </message>
    <message>
        <source>Frame, counted from 0</source>
        <translation>Bild, gezählt ab 0</translation>
    </message>
    <message>
        <source>Strength of the picture</source>
        <translation>Stärke des Bildes</translation>
    </message>
    <message>
        <source>Compression before the model sees it: 0 for none, 51 for the most</source>
        <translation>Kompression, bevor das Modell es sieht: 0 keine, 51 die stärkste</translation>
    </message>
    <message>
        <source>Model&apos;s own</source>
        <translation>Wie im Modell</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Where {0} stands</source>
        <translation>Wo {0} steht</translation>
    </message>
    <message>
        <source>Where the picture stands in the clip</source>
        <translation>Wo das Bild im Clip steht</translation>
    </message>
    <message>
        <source>Compression (CRF)</source>
        <translation>Kompression (CRF)</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
</context>
<context>
    <name>ImageView</name>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Add pictures</source>
        <translation>Bilder hinzufügen</translation>
    </message>
    <message>
        <source>Drop or paste pictures to start from</source>
        <translation>Ausgangsbilder hierher ziehen oder einfügen</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Pictures ({0})</source>
        <translation>Bilder ({0})</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Bring the picture back</source>
        <translation>Das Bild zurückholen</translation>
    </message>
    <message>
        <source>“{0}” was taken out.</source>
        <translation>„{0}“ wurde herausgenommen.</translation>
    </message>
    <message>
        <source>{1} pictures were taken out.</source>
        <translation>{1} Bilder wurden herausgenommen.</translation>
    </message>
</context>
<context>
    <name>ImagesState</name>
    <message>
        <source>“{0}” stands at frame {1} twice. Move one of them, or take it out.</source>
        <translation>„{0}“ steht zweimal bei Bild {1}. Verschieben Sie eines davon, oder nehmen Sie es heraus.</translation>
    </message>
    <message>
        <source>“{0}” and “{1}” stand at the same frame, {2}. Move one of them, or take it out.</source>
        <translation>„{0}“ und „{1}“ stehen beim selben Bild, {2}. Verschieben Sie eines davon, oder nehmen Sie es heraus.</translation>
    </message>
</context>
<context>
    <name>JobState</name>
    <message>
        <source>Force stop ends the fleet at once; the weights load again.</source>
        <translation>„Sofort beenden“ beendet den Verbund auf der Stelle; die Gewichte laden danach neu.</translation>
    </message>
    <message>
        <source>Force stop ends the fleet at once; the weights load again, about {0} s.</source>
        <translation>„Sofort beenden“ beendet den Verbund auf der Stelle; die Gewichte laden danach neu, etwa {0} s.</translation>
    </message>
</context>
<context>
    <name>KeyframesView</name>
    <message>
        <source>Key frames made by the model</source>
        <translation>Schlüsselbilder aus dem Modell</translation>
    </message>
    <message>
        <source>0 to {0}, spread evenly over the clip</source>
        <translation>0 bis {0}, gleichmäßig über den Clip verteilt</translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Log of</source>
        <translation>Protokoll von</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Nothing was logged.</source>
        <translation>Nichts wurde protokolliert.</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
</context>
<context>
    <name>LoraItemView</name>
    <message>
        <source>Move it: drag, or press the arrow keys</source>
        <translation>Verschieben: ziehen oder Pfeiltasten drücken</translation>
    </message>
    <message>
        <source>Take out of the stack</source>
        <translation>Aus dem Stapel nehmen</translation>
    </message>
    <message>
        <source>Strengths by branch</source>
        <translation>Stärken je Zweig</translation>
    </message>
    <message>
        <source>Apply {0}</source>
        <translation>{0} anwenden</translation>
    </message>
    <message>
        <source>Apply to the next clip</source>
        <translation>Auf den nächsten Clip anwenden</translation>
    </message>
    <message>
        <source>Move {0}: press the arrow keys</source>
        <translation>{0} verschieben: Pfeiltasten drücken</translation>
    </message>
    <message>
        <source>Strength of {0}</source>
        <translation>Stärke von {0}</translation>
    </message>
    <message>
        <source>Strengths by branch: changed</source>
        <translation>Stärken je Zweig: geändert</translation>
    </message>
    <message>
        <source>Beyond ±{0} most LoRAs only break the picture.</source>
        <translation>Jenseits von ±{0} zerstören die meisten LoRAs nur das Bild.</translation>
    </message>
    <message>
        <source>The model it was trained for, as its file tells</source>
        <translation>Das Modell, für das es trainiert wurde, laut seiner Datei</translation>
    </message>
    <message>
        <source>Being read…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>All of its {0} layers match this model.</source>
        <translation>Alle seine {0} Ebenen passen zu diesem Modell.</translation>
    </message>
    <message>
        <source>{0} layers match this model; others are left out.</source>
        <translation>{0} Ebenen passen zu diesem Modell; andere bleiben weg.</translation>
    </message>
</context>
<context>
    <name>LoraStackView</name>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Add LoRA files</source>
        <translation>LoRA-Dateien hinzufügen</translation>
    </message>
    <message>
        <source>Drop LoRA files, or add them</source>
        <translation>LoRA-Dateien hierher ziehen oder hinzufügen</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Add LoRAs</source>
        <translation>LoRAs hinzufügen</translation>
    </message>
    <message>
        <source>LoRAs ({0})</source>
        <translation>LoRAs ({0})</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Fleet</source>
        <translation>Verbund</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>On the Stage</source>
        <translation>Auf der Bühne</translation>
    </message>
    <message>
        <source>In the history</source>
        <translation>Im Verlauf</translation>
    </message>
    <message>
        <source>Queue ({0})</source>
        <translation>Warteschlange ({0})</translation>
    </message>
    <message>
        <source>Clips go to {0}</source>
        <translation>Clips kommen nach {0}</translation>
    </message>
    <message>
        <source>Exporting “{0}”, {1}%</source>
        <translation>„{0}“ wird exportiert, {1} %</translation>
    </message>
    <message>
        <source>An entry of the queue is in the form: Generate puts it back in its place.</source>
        <translation>Ein Eintrag der Warteschlange steht im Formular: „Erzeugen“ bringt ihn zurück an seinen Platz.</translation>
    </message>
    <message>
        <source>Finished: {0}</source>
        <translation>Fertig: {0}</translation>
    </message>
    <message>
        <source>Stopped. No file was written.</source>
        <translation>Abgebrochen. Es wurde keine Datei geschrieben.</translation>
    </message>
    <message>
        <source>The clip was not made.</source>
        <translation>Der Clip ist nicht entstanden.</translation>
    </message>
    <message>
        <source>The clip was not begun.</source>
        <translation>Der Clip wurde nicht begonnen.</translation>
    </message>
    <message>
        <source>Ready. {0} makes the clip.</source>
        <translation>Bereit. {0} erzeugt den Clip.</translation>
    </message>
</context>
<context>
    <name>ManagePresetsDialog</name>
    <message>
        <source>Manage Presets</source>
        <translation>Voreinstellungen verwalten</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
</context>
<context>
    <name>MediaClipPlayer</name>
    <message>
        <source>The clip is there and cannot be played here. Another player may open it.</source>
        <translation>Der Clip ist da, kann hier aber nicht abgespielt werden. Vielleicht öffnet ihn ein anderes Programm.</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>The memory of a device did not suffice. Fewer frames, a smaller size, or more GPUs may do; so may closing what else uses them.</source>
        <translation>Der Speicher eines Geräts reichte nicht. Weniger Bilder, eine kleinere Größe oder mehr GPUs können helfen, ebenso das Schließen anderer Programme darauf.</translation>
    </message>
    <message>
        <source>A rank failed on a fault in Podium or beneath it. The details tell where.</source>
        <translation>Ein Rang scheiterte an einem Fehler in Podium oder darunter. Die Einzelheiten sagen, wo.</translation>
    </message>
    <message>
        <source>The clip took longer than it was given, and the fleet was stopped.</source>
        <translation>Der Clip brauchte länger, als ihm zustand, und der Verbund wurde beendet.</translation>
    </message>
    <message>
        <source>The fleet was not ready in time and was stopped. The details tell what each device was at.</source>
        <translation>Der Verbund war nicht rechtzeitig bereit und wurde beendet. Die Einzelheiten sagen, woran jedes Gerät war.</translation>
    </message>
    <message>
        <source>The devices did not agree on what is wrong with this clip. Start the fleet anew.</source>
        <translation>Die Geräte waren sich nicht einig, was an diesem Clip nicht stimmt. Starten Sie den Verbund neu.</translation>
    </message>
    <message>
        <source>Podium failed on a fault of its own ({0}). The details tell where.</source>
        <translation>Podium scheiterte an einem eigenen Fehler ({0}). Die Einzelheiten sagen, wo.</translation>
    </message>
    <message>
        <source>{0} Fewer devices on the CPU, a smaller clip, or more memory in the machine may do.</source>
        <translation>{0} Weniger Ränge auf der CPU, ein kleinerer Clip oder mehr Arbeitsspeicher können helfen.</translation>
    </message>
    <message>
        <source>{0} That is the second failure in a row, so no new fleet is started by itself.</source>
        <translation>{0} Das ist der zweite Ausfall in Folge, daher startet von selbst kein neuer Verbund.</translation>
    </message>
    <message>
        <source>{0} That is another failure in a row, so no new fleet is started by itself.</source>
        <translation>{0} Das ist ein weiterer Ausfall in Folge, daher startet von selbst kein neuer Verbund.</translation>
    </message>
    <message>
        <source>The job ended without a result. That is a fault in Podium.</source>
        <translation>Der Auftrag endete ohne Ergebnis. Das ist ein Fehler in Podium.</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message>
        <source>A clip is finished</source>
        <translation>Ein Clip ist fertig</translation>
    </message>
    <message>
        <source>Finished: {0}. Not made: {1}.</source>
        <translation>Fertig: {0}. Nicht entstanden: {1}.</translation>
    </message>
    <message>
        <source>The queue is done</source>
        <translation>Die Warteschlange ist abgearbeitet</translation>
    </message>
    <message>
        <source>A clip was not made</source>
        <translation>Ein Clip ist nicht entstanden</translation>
    </message>
    <message>
        <source>The queue is paused</source>
        <translation>Die Warteschlange ist angehalten</translation>
    </message>
</context>
<context>
    <name>PackFileView</name>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the file: {0}</source>
        <translation>Datei wählen: {0}</translation>
    </message>
    <message>
        <source>Do without it: {0}</source>
        <translation>Ohne diese Datei: {0}</translation>
    </message>
    <message>
        <source>Model files ({0})</source>
        <translation>Modelldateien ({0})</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>The video and sound model: one .safetensors file, whole or its transformer alone.</source>
        <translation>Das Modell für Bild und Ton: eine .safetensors-Datei, ganz oder nur sein Transformer.</translation>
    </message>
    <message>
        <source>Reads your prompt: the folder of Gemma 3 with its tokenizer, about 24&#xa0;GB.</source>
        <translation>Liest Ihren Prompt: der Ordner von Gemma 3 mit seinem Tokenizer, etwa 24&#xa0;GB.</translation>
    </message>
    <message>
        <source>Reads your prompt: the text encoder&apos;s file of the same model, about 26&#xa0;GB.</source>
        <translation>Liest Ihren Prompt: die Text-Encoder-Datei desselben Modells, etwa 26&#xa0;GB.</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>Text encoder</source>
        <translation>Text-Encoder</translation>
    </message>
    <message>
        <source>Spatial upscaler</source>
        <translation>Räumlicher Upscaler</translation>
    </message>
    <message>
        <source>Enlarges the draft to full size: one .safetensors file, about 1&#xa0;GB.</source>
        <translation>Vergrößert den Entwurf auf volle Größe: eine .safetensors-Datei, etwa 1&#xa0;GB.</translation>
    </message>
    <message>
        <source>Distilled LoRA</source>
        <translation>Destilliertes LoRA</translation>
    </message>
    <message>
        <source>Quality and HQ refine with it: one .safetensors file. Fast does without.</source>
        <translation>„Qualität“ und „HQ“ verfeinern damit: eine .safetensors-Datei. „Schnell“ kommt ohne aus.</translation>
    </message>
    <message>
        <source>Video VAE</source>
        <translation>Video-VAE</translation>
    </message>
    <message>
        <source>Turns latents into pictures, about 1.5&#xa0;GB.</source>
        <translation>Macht aus Latents Bilder, etwa 1,5&#xa0;GB.</translation>
    </message>
    <message>
        <source>Audio VAE</source>
        <translation>Audio-VAE</translation>
    </message>
    <message>
        <source>Turns latents into sound, about 0.4&#xa0;GB.</source>
        <translation>Macht aus Latents Ton, etwa 0,4&#xa0;GB.</translation>
    </message>
    <message>
        <source>Duration head</source>
        <translation>Längenschätzer</translation>
    </message>
    <message>
        <source>Guesses a clip&apos;s length from the prompt, about 8&#xa0;MB. A model does without.</source>
        <translation>Schätzt die Länge eines Clips aus dem Prompt, etwa 8&#xa0;MB. Ein Modell kommt ohne aus.</translation>
    </message>
    <message>
        <source>Being looked at…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>distilled</source>
        <translation>destilliert</translation>
    </message>
    <message>
        <source>{0} layers</source>
        <translation>{0} Ebenen</translation>
    </message>
</context>
<context>
    <name>PackState</name>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>{0} refines with the distilled LoRA of your model. Choose its file among the model&apos;s, or Fast.</source>
        <translation>„{0}“ verfeinert mit dem destillierten LoRA Ihres Modells. Wählen Sie dessen Datei unter denen des Modells, oder „Schnell“.</translation>
    </message>
    <message>
        <source>The demo model is being written, once.</source>
        <translation>Das Demomodell wird geschrieben, einmalig.</translation>
    </message>
    <message>
        <source>Demo model: random weights, coloured noise until a trained one ships.</source>
        <translation>Demomodell: zufällige Gewichte, buntes Rauschen, bis ein trainiertes beiliegt.</translation>
    </message>
    <message>
        <source>the checkpoint</source>
        <translation>den Checkpoint</translation>
    </message>
    <message>
        <source>the text encoder</source>
        <translation>den Text-Encoder</translation>
    </message>
    <message>
        <source>the Gemma folder</source>
        <translation>den Gemma-Ordner</translation>
    </message>
    <message>
        <source>the spatial upscaler</source>
        <translation>den räumlichen Upscaler</translation>
    </message>
    <message>
        <source>the video VAE</source>
        <translation>den Video-VAE</translation>
    </message>
    <message>
        <source>the audio VAE</source>
        <translation>den Audio-VAE</translation>
    </message>
    <message>
        <source> and </source>
        <translation> und </translation>
    </message>
    <message>
        <source>Choose {0}, or try the demo model.</source>
        <translation>Wählen Sie {0}, oder probieren Sie das Demomodell aus.</translation>
    </message>
    <message>
        <source>“{0}” is {1}. In the distilled LoRA&apos;s place choose the LoRA that was published with your model.</source>
        <translation>„{0}“ ist {1}. Wählen Sie an der Stelle des destillierten LoRAs das LoRA, das mit Ihrem Modell veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>distilled</source>
        <translation>destilliert</translation>
    </message>
</context>
<context>
    <name>PackView</name>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
</context>
<context>
    <name>PanelDialog</name>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
</context>
<context>
    <name>Phase</name>
    <message>
        <source>Starting</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Joining the devices</source>
        <translation>Geräte verbinden sich</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Modell laden</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Applying LoRAs</source>
        <translation>LoRAs anwenden</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>Prompt lesen</translation>
    </message>
    <message>
        <source>Compiling</source>
        <translation>Kompilieren</translation>
    </message>
    <message>
        <source>Stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>Enlarging</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation>Decodieren</translation>
    </message>
    <message>
        <source>Writing the file</source>
        <translation>Datei schreiben</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Beenden</translation>
    </message>
</context>
<context>
    <name>PictureView</name>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
</context>
<context>
    <name>PipelineView</name>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Datei wählen…</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>Needs your model&apos;s distilled LoRA.</source>
        <translation>Braucht das destillierte LoRA Ihres Modells.</translation>
    </message>
    <message>
        <source>Few steps, no guidance: made for distilled checkpoints.</source>
        <translation>Wenige Schritte, keine Führung: für destillierte Checkpoints.</translation>
    </message>
    <message>
        <source>Guided, with a negative prompt: follows the prompt closely, several times slower.</source>
        <translation>Geführt, mit negativem Prompt: folgt dem Prompt genau, um ein Mehrfaches langsamer.</translation>
    </message>
    <message>
        <source>Guided by a finer sampler, in fewer and slower steps.</source>
        <translation>Geführt von einem feineren Sampler, in weniger und langsameren Schritten.</translation>
    </message>
</context>
<context>
    <name>PodiumWindow</name>
    <message>
        <source>The picture cannot be kept in “{0}”. Make room on that disk, or the folder writable.</source>
        <translation>Das Bild kann nicht in „{0}“ abgelegt werden. Schaffen Sie Platz auf diesem Datenträger, oder machen Sie den Ordner beschreibbar.</translation>
    </message>
</context>
<context>
    <name>PresetView</name>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Settings of this form under names of your own</source>
        <translation>Einstellungen dieses Formulars unter eigenen Namen</translation>
    </message>
    <message>
        <source>No preset yet</source>
        <translation>Noch keine Voreinstellung</translation>
    </message>
    <message>
        <source>Save as Preset…</source>
        <translation>Als Voreinstellung sichern…</translation>
    </message>
    <message>
        <source>Manage Presets…</source>
        <translation>Voreinstellungen verwalten…</translation>
    </message>
</context>
<context>
    <name>PresetsState</name>
    <message>
        <source>Give the preset a name.</source>
        <translation>Geben Sie der Voreinstellung einen Namen.</translation>
    </message>
    <message>
        <source>There is a preset “{0}” already. Choose another name.</source>
        <translation>Es gibt schon eine Voreinstellung „{0}“. Wählen Sie einen anderen Namen.</translation>
    </message>
</context>
<context>
    <name>ProgressView</name>
    <message>
        <source>about {0} left</source>
        <translation>noch etwa {0}</translation>
    </message>
    <message>
        <source>Checking the request…</source>
        <translation>Der Auftrag wird geprüft…</translation>
    </message>
    <message>
        <source>Starting the devices and loading the model…</source>
        <translation>Die Geräte starten, und das Modell lädt…</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>Arbeitet…</translation>
    </message>
    <message>
        <source>{0}, step {1} of {2}</source>
        <translation>{0}, Schritt {1} von {2}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>Force stop</source>
        <translation>Sofort beenden</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>End this clip at its next step (Esc)</source>
        <translation>Diesen Clip beim nächsten Schritt abbrechen (Esc)</translation>
    </message>
</context>
<context>
    <name>PromptPopup</name>
    <message>
        <source>Search prompts</source>
        <translation>Prompts durchsuchen</translation>
    </message>
    <message>
        <source>Prompts of before</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>No prompt of before holds these words.</source>
        <translation>Kein früherer Prompt enthält diese Wörter.</translation>
    </message>
    <message>
        <source>What you generate is kept here.</source>
        <translation>Was Sie erzeugen, steht hier.</translation>
    </message>
</context>
<context>
    <name>PromptRunner</name>
    <message>
        <source>This was stopped before it was done.</source>
        <translation>Das wurde abgebrochen, bevor es fertig war.</translation>
    </message>
    <message>
        <source>The fleet starts first.</source>
        <translation>Zuerst startet der Verbund.</translation>
    </message>
    <message>
        <source>It waits for what is at work.</source>
        <translation>Es wartet auf das, was gerade läuft.</translation>
    </message>
</context>
<context>
    <name>PromptView</name>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Enhance: have the prompt written out…</source>
        <translation>Ausarbeiten: den Prompt ausschreiben lassen…</translation>
    </message>
    <message>
        <source>Prompts of before</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>Describe the clip as one flowing paragraph: the scene, what moves, the camera, what is heard.</source>
        <translation>Beschreiben Sie den Clip in einem fließenden Absatz: die Szene, was sich bewegt, die Kamera, was zu hören ist.</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativer Prompt</translation>
    </message>
    <message>
        <source>{0} of {1} tokens</source>
        <translation>{0} von {1} Token</translation>
    </message>
    <message>
        <source>Fast knows none. Quality and HQ do.</source>
        <translation>„Schnell“ kennt keinen. „Qualität“ und „HQ“ schon.</translation>
    </message>
    <message>
        <source>What to stay away from</source>
        <translation>Was vermieden werden soll</translation>
    </message>
</context>
<context>
    <name>QuantizationView</name>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>fp8, with the file&apos;s scales</source>
        <translation>fp8, mit den Skalen der Datei</translation>
    </message>
    <message>
        <source>This checkpoint is stored so, and stays so.</source>
        <translation>Dieser Checkpoint ist so gespeichert und bleibt so.</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>Wie gespeichert</translation>
    </message>
    <message>
        <source>fp8</source>
        <translation>fp8</translation>
    </message>
    <message>
        <source>The weights keep their full precision.</source>
        <translation>Die Gewichte behalten ihre volle Genauigkeit.</translation>
    </message>
    <message>
        <source>The weights take half the memory, and fine detail may suffer.</source>
        <translation>Die Gewichte brauchen halb so viel Speicher, und feine Einzelheiten können leiden.</translation>
    </message>
</context>
<context>
    <name>QueueActions</name>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Duplicate</source>
        <translation>&amp;Duplizieren</translation>
    </message>
    <message>
        <source>Pass &amp;Over</source>
        <translation>Übe&amp;rspringen</translation>
    </message>
    <message>
        <source>&amp;Retry</source>
        <translation>&amp;Nochmals versuchen</translation>
    </message>
    <message>
        <source>Move to the &amp;Front</source>
        <translation>An den An&amp;fang</translation>
    </message>
    <message>
        <source>Move &amp;Up</source>
        <translation>Nach &amp;oben</translation>
    </message>
    <message>
        <source>Move Dow&amp;n</source>
        <translation>Nach &amp;unten</translation>
    </message>
    <message>
        <source>Re&amp;move</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Leave the Edited Entry as It Was</source>
        <translation>Bearbeiteten Eintrag unverändert &amp;lassen</translation>
    </message>
    <message>
        <source>&amp;Pause the Queue</source>
        <translation>Warteschlange &amp;anhalten</translation>
    </message>
    <message>
        <source>&amp;Group by Model</source>
        <translation>Nach &amp;Modell ordnen</translation>
    </message>
    <message>
        <source>&amp;Cancel All</source>
        <translation>Alle abbre&amp;chen</translation>
    </message>
    <message>
        <source>Clear &amp;What Waits</source>
        <translation>&amp;Wartende entfernen</translation>
    </message>
    <message>
        <source>Clear and Res&amp;tart the Fleet</source>
        <translation>Leeren und Verbund neu s&amp;tarten</translation>
    </message>
</context>
<context>
    <name>QueueState</name>
    <message>
        <source>The queue is paused. The clip at work is finished, and no other begun.</source>
        <translation>Die Warteschlange ist angehalten. Der laufende Clip wird fertig, und kein weiterer beginnt.</translation>
    </message>
    <message>
        <source>Podium ended unexpectedly last time. Nothing of the queue is lost, and a clip that was being made is in front again. Resume the queue to go on.</source>
        <translation>Podium endete letztes Mal unerwartet. Aus der Warteschlange ging nichts verloren, und ein Clip, der gerade entstand, steht wieder vorn. Setzen Sie die Warteschlange fort, um weiterzumachen.</translation>
    </message>
    <message>
        <source>These clips were left over when Podium was closed. Resume the queue to make them.</source>
        <translation>Diese Clips blieben übrig, als Podium geschlossen wurde. Setzen Sie die Warteschlange fort, um sie zu erzeugen.</translation>
    </message>
</context>
<context>
    <name>QueueView</name>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>More for the queue</source>
        <translation>Mehr zur Warteschlange</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>The clip at work ends at its next step, and all that wait are taken out.</source>
        <translation>Der laufende Clip endet beim nächsten Schritt, und alle wartenden werden entfernt.</translation>
    </message>
    <message>
        <source>Cancel all clips?</source>
        <translation>Alle Clips abbrechen?</translation>
    </message>
    <message>
        <source>Cancel All</source>
        <translation>Alle abbrechen</translation>
    </message>
    <message>
        <source>All but the clip at work are taken out.</source>
        <translation>Alle außer dem laufenden Clip werden entfernt.</translation>
    </message>
    <message>
        <source>Clear what waits?</source>
        <translation>Wartende entfernen?</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>The clip at work is stopped by force and all that wait are taken out. Then the devices start anew and the weights load again.</source>
        <translation>Der laufende Clip wird sofort beendet, und alle wartenden werden entfernt. Dann starten die Geräte neu, und die Gewichte laden nochmals.</translation>
    </message>
    <message>
        <source>Clear the queue and restart the fleet?</source>
        <translation>Warteschlange leeren und Verbund neu starten?</translation>
    </message>
    <message>
        <source>Clear and Restart</source>
        <translation>Leeren und neu starten</translation>
    </message>
    <message>
        <source>Nothing waits. Generate puts a clip here, and more while one is being made.</source>
        <translation>Nichts wartet. „Erzeugen“ stellt einen Clip hierher, und weitere, während einer entsteht.</translation>
    </message>
    <message>
        <source>Waiting: {0}</source>
        <translation>Wartend: {0}</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Begin no further clip; the one at work goes on (Ctrl+P)</source>
        <translation>Keinen weiteren Clip beginnen; der laufende geht weiter (Strg+P)</translation>
    </message>
</context>
<context>
    <name>QueueWords</name>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>In the form</source>
        <translation>Im Formular</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Übersprungen</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source> and {0} more</source>
        <translation> und {0} weitere</translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation>Seed {0}</translation>
    </message>
    <message>
        <source>Needs another fleet</source>
        <translation>Braucht einen anderen Verbund</translation>
    </message>
    <message>
        <source>Needs another fleet (about {0})</source>
        <translation>Braucht einen anderen Verbund (etwa {0})</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
</context>
<context>
    <name>RankLine</name>
    <message>
        <source>Its last sign of life</source>
        <translation>Letztes Lebenszeichen</translation>
    </message>
    <message>
        <source>Progress of the phase</source>
        <translation>Fortschritt der Phase</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
    <message>
        <source>{0} s ago</source>
        <translation>vor {0} s</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
    <message>
        <source>step {0} of {1}</source>
        <translation>Schritt {0} von {1}</translation>
    </message>
</context>
<context>
    <name>ReuseDialog</name>
    <message>
        <source>Reuse</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>{0} fps</source>
        <translation>{0} B/s</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativer Prompt</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Length and rate</source>
        <translation>Länge und Bildrate</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Steps and guidance</source>
        <translation>Schritte und Führung</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation>Wie im Modell</translation>
    </message>
    <message>
        <source>Steps: {0}</source>
        <translation>Schritte: {0}</translation>
    </message>
</context>
<context>
    <name>SavePresetDialog</name>
    <message>
        <source>Save as Preset</source>
        <translation>Als Voreinstellung sichern</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>Name der Voreinstellung</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>The prompt</source>
        <translation>Der Prompt</translation>
    </message>
    <message>
        <source>The seed</source>
        <translation>Der Seed</translation>
    </message>
    <message>
        <source>The pictures</source>
        <translation>Die Bilder</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Sichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>It holds pipeline, negative prompt, format, guidance and LoRAs. Keep with it:</source>
        <translation>Sie enthält Pipeline, negativen Prompt, Format, Führung und LoRAs. Außerdem behalten:</translation>
    </message>
    <message>
        <source>Write over</source>
        <translation>Überschreiben</translation>
    </message>
    <message>
        <source>There is a preset of this name; it is written over.</source>
        <translation>Es gibt eine Voreinstellung dieses Namens; sie wird überschrieben.</translation>
    </message>
</context>
<context>
    <name>SeedView</name>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Keep this seed</source>
        <translation>Diesen Seed behalten</translation>
    </message>
    <message>
        <source>Throw the dice: another seed</source>
        <translation>Würfeln: ein anderer Seed</translation>
    </message>
    <message>
        <source>The seed is kept; press to draw a new one each time</source>
        <translation>Der Seed bleibt; drücken, um jedes Mal einen neuen zu ziehen</translation>
    </message>
    <message>
        <source>A new seed for each clip; press to keep this one</source>
        <translation>Ein neuer Seed für jeden Clip; drücken, um diesen zu behalten</translation>
    </message>
</context>
<context>
    <name>SessionState</name>
    <message>
        <source>The queue is paused, since fleets fail one after another. {0} Resume it to try again.</source>
        <translation>Die Warteschlange ist angehalten, da ein Verbund nach dem anderen ausfällt. {0} Setzen Sie sie fort, um es nochmals zu versuchen.</translation>
    </message>
    <message>
        <source>The fleet was stopped. Resume the queue to start it again.</source>
        <translation>Der Verbund wurde beendet. Setzen Sie die Warteschlange fort, um ihn wieder zu starten.</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>SleepInhibitor</name>
    <message>
        <source>A clip is being made</source>
        <translation>Ein Clip entsteht</translation>
    </message>
</context>
<context>
    <name>SpeedButton</name>
    <message>
        <source>Speed: {0}</source>
        <translation>Tempo: {0}</translation>
    </message>
    <message>
        <source>How fast it plays</source>
        <translation>Wie schnell er läuft</translation>
    </message>
</context>
<context>
    <name>StageView</name>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation>Wiedergabe oder Pause</translation>
    </message>
    <message>
        <source>One frame back or on</source>
        <translation>Ein Bild zurück oder vor</translation>
    </message>
    <message>
        <source>Home   End</source>
        <translation>Pos1   Ende</translation>
    </message>
    <message>
        <source>First or last frame</source>
        <translation>Erstes oder letztes Bild</translation>
    </message>
    <message>
        <source>Slower or faster</source>
        <translation>Langsamer oder schneller</translation>
    </message>
    <message>
        <source>Loop</source>
        <translation>Schleife</translation>
    </message>
    <message>
        <source>Mute</source>
        <translation>Stumm</translation>
    </message>
    <message>
        <source>Use this frame</source>
        <translation>Dieses Bild verwenden</translation>
    </message>
    <message>
        <source>More for this clip</source>
        <translation>Mehr zu diesem Clip</translation>
    </message>
    <message>
        <source>Stage 1, half size</source>
        <translation>Stufe 1, halbe Größe</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>The clip was stopped; no file was written.</source>
        <translation>Der Clip wurde abgebrochen; es wurde keine Datei geschrieben.</translation>
    </message>
    <message>
        <source>This clip cannot be made as it is</source>
        <translation>Dieser Clip kann so nicht entstehen</translation>
    </message>
    <message>
        <source>The clip was not made</source>
        <translation>Der Clip ist nicht entstanden</translation>
    </message>
    <message>
        <source>On its way</source>
        <translation>Unterwegs</translation>
    </message>
    <message>
        <source>The first picture comes with the first step.</source>
        <translation>Das erste Bild kommt mit dem ersten Schritt.</translation>
    </message>
    <message>
        <source>Write a prompt and press Generate. You will watch the clip appear here.</source>
        <translation>Schreiben Sie einen Prompt, und drücken Sie „Erzeugen“. Hier sehen Sie den Clip entstehen.</translation>
    </message>
    <message>
        <source>Your clip will be here</source>
        <translation>Hier wird Ihr Clip sein</translation>
    </message>
    <message>
        <source>The clip cannot be played</source>
        <translation>Der Clip kann nicht abgespielt werden</translation>
    </message>
</context>
<context>
    <name>SuggestView</name>
    <message>
        <source>Wait for the length no more</source>
        <translation>Nicht länger auf die Länge warten</translation>
    </message>
    <message>
        <source>Have the model suggest the length</source>
        <translation>Die Länge vom Modell vorschlagen lassen</translation>
    </message>
    <message>
        <source>The model reads the prompt.</source>
        <translation>Das Modell liest den Prompt.</translation>
    </message>
</context>
<context>
    <name>TransportView</name>
    <message>
        <source>One frame back</source>
        <translation>Ein Bild zurück</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>One frame on</source>
        <translation>Ein Bild vor</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Loop</source>
        <translation>Schleife</translation>
    </message>
    <message>
        <source>Mute</source>
        <translation>Stumm</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>Lautstärke</translation>
    </message>
    <message>
        <source>Sound on</source>
        <translation>Ton an</translation>
    </message>
    <message>
        <source> of {0} frames</source>
        <translation> von {0} Bildern</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
</context>
<context>
    <name>WantedFleet</name>
    <message>
        <source>The model&apos;s files are being looked at.</source>
        <translation>Die Dateien des Modells werden geprüft.</translation>
    </message>
    <message>
        <source>The devices are being looked for.</source>
        <translation>Die Geräte werden gesucht.</translation>
    </message>
</context>
<context>
    <name>WelcomeView</name>
    <message>
        <source>Try the demo model</source>
        <translation>Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Loslegen</translation>
    </message>
    <message>
        <source>Look around first</source>
        <translation>Erst einmal umsehen</translation>
    </message>
    <message>
        <source>Welcome to Podium</source>
        <translation>Willkommen bei Podium</translation>
    </message>
    <message>
        <source>Video with sound from a prompt, on this machine. Nothing leaves it.</source>
        <translation>Video mit Ton aus einem Prompt, auf diesem Rechner. Nichts verlässt ihn.</translation>
    </message>
    <message>
        <source>No model yet?</source>
        <translation>Noch kein Modell?</translation>
    </message>
    <message>
        <source>The demo model is written in seconds and shows how Podium works. It makes coloured noise.</source>
        <translation>Das Demomodell ist in Sekunden geschrieben und zeigt, wie Podium arbeitet. Es erzeugt buntes Rauschen.</translation>
    </message>
    <message>
        <source>The model</source>
        <translation>Das Modell</translation>
    </message>
    <message>
        <source>Where it runs</source>
        <translation>Wo es läuft</translation>
    </message>
    <message>
        <source>Being looked at…</source>
        <translation>Wird geprüft…</translation>
    </message>
</context>
<context>
    <name>WindowActions</name>
    <message>
        <source>&amp;Keyboard Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>&amp;About Podium</source>
        <translation>Ü&amp;ber Podium</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Farbschema</translation>
    </message>
    <message>
        <source>&amp;Clip</source>
        <translation>&amp;Clip</translation>
    </message>
    <message>
        <source>&amp;History</source>
        <translation>&amp;Verlauf</translation>
    </message>
    <message>
        <source>&amp;Queue</source>
        <translation>&amp;Warteschlange</translation>
    </message>
    <message>
        <source>&amp;Generate</source>
        <translation>&amp;Erzeugen</translation>
    </message>
    <message>
        <source>He&amp;lp</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Form</source>
        <translation>Formular</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Clip</source>
        <translation>Clip</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Erzeugen</translation>
    </message>
    <message>
        <source>Choose &amp;Model…</source>
        <translation>&amp;Modell wählen…</translation>
    </message>
    <message>
        <source>Choose &amp;Devices…</source>
        <translation>&amp;Geräte wählen…</translation>
    </message>
    <message>
        <source>&amp;Try the Demo Model</source>
        <translation>&amp;Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Reuse a Clip&apos;s &amp;File…</source>
        <translation>&amp;Einstellungen aus einem Clip übernehmen…</translation>
    </message>
    <message>
        <source>Clips F&amp;older…</source>
        <translation>Ordner für &amp;Clips…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Add &amp;Pictures…</source>
        <translation>&amp;Bilder hinzufügen…</translation>
    </message>
    <message>
        <source>P&amp;aste Picture</source>
        <translation>Bild &amp;einfügen</translation>
    </message>
    <message>
        <source>&amp;Remove Pictures</source>
        <translation>Bilder ent&amp;fernen</translation>
    </message>
    <message>
        <source>Add &amp;LoRAs…</source>
        <translation>&amp;LoRAs hinzufügen…</translation>
    </message>
    <message>
        <source>Throw the &amp;Dice</source>
        <translation>&amp;Würfeln</translation>
    </message>
    <message>
        <source>&amp;Keep the Seed</source>
        <translation>&amp;Seed behalten</translation>
    </message>
    <message>
        <source>&amp;Fleet</source>
        <translation>Ver&amp;bund</translation>
    </message>
    <message>
        <source>&amp;Log</source>
        <translation>&amp;Protokoll</translation>
    </message>
    <message>
        <source>Show the &amp;Panels</source>
        <translation>Bereiche an&amp;zeigen</translation>
    </message>
    <message>
        <source>Stop &amp;Comparing</source>
        <translation>Vergleich been&amp;den</translation>
    </message>
    <message>
        <source>F&amp;ull Screen</source>
        <translation>V&amp;ollbild</translation>
    </message>
    <message>
        <source>&amp;Notify when Clips Are Done</source>
        <translation>&amp;Melden, wenn Clips fertig sind</translation>
    </message>
    <message>
        <source>&amp;Reduce Motion</source>
        <translation>Beweg&amp;ung verringern</translation>
    </message>
    <message>
        <source>As the &amp;System</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>&amp;Play or Pause</source>
        <translation>&amp;Wiedergabe oder Pause</translation>
    </message>
    <message>
        <source>One Frame &amp;Back</source>
        <translation>Ein Bild &amp;zurück</translation>
    </message>
    <message>
        <source>One Frame O&amp;n</source>
        <translation>Ein Bild &amp;vor</translation>
    </message>
    <message>
        <source>Slo&amp;wer</source>
        <translation>&amp;Langsamer</translation>
    </message>
    <message>
        <source>F&amp;aster</source>
        <translation>Sc&amp;hneller</translation>
    </message>
    <message>
        <source>&amp;Loop</source>
        <translation>&amp;Schleife</translation>
    </message>
    <message>
        <source>M&amp;ute</source>
        <translation>Stu&amp;mm</translation>
    </message>
    <message>
        <source>Generate &amp;Next</source>
        <translation>Als &amp;Nächstes erzeugen</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>&amp;Force Stop</source>
        <translation>&amp;Sofort beenden</translation>
    </message>
    <message>
        <source>&amp;Start the Fleet</source>
        <translation>&amp;Verbund starten</translation>
    </message>
    <message>
        <source>&amp;Unload the Fleet</source>
        <translation>Verbund ent&amp;laden</translation>
    </message>
    <message>
        <source>S&amp;top the Fleet</source>
        <translation>Ver&amp;bund beenden</translation>
    </message>
</context>
<context>
    <name>WindowDialogs</name>
    <message>
        <source>Try the demo model</source>
        <translation>Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Where finished clips go</source>
        <translation>Wohin fertige Clips kommen</translation>
    </message>
    <message>
        <source>Clips made by Podium (*.mp4)</source>
        <translation>Clips von Podium (*.mp4)</translation>
    </message>
    <message>
        <source>Reuse a clip&apos;s parameters</source>
        <translation>Einstellungen eines Clips übernehmen</translation>
    </message>
    <message>
        <source>Reuse</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Reuse “{0}”</source>
        <translation>„{0}“ übernehmen</translation>
    </message>
</context>
<context>
    <name>WipeView</name>
    <message>
        <source>Wipe between the two clips</source>
        <translation>Wischblende zwischen den zwei Clips</translation>
    </message>
    <message>
        <source>{0} percent</source>
        <translation>{0} Prozent</translation>
    </message>
</context>
</TS>
